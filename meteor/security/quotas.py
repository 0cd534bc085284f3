"""Quotas: how much each identity has and does by way of one peer.

Law of this file: pure, takes `now`.  Counted is what passes this peer and still lives: another
entry peer counts for itself, and a restart begins anew (docs/security.md says so).  Bounded: what
is remembered of one identity by its quota, of all by `IDENTITIES_MAX`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from arms import DATA, Kind
from meteor.errors import Refused
from meteor.security.policy import Quota

IDENTITIES_MAX: Final = 10_000
"""Identities that are counted; the one that has not posted for longest is forgotten first."""

LOOK_S: Final = 0.5
"""How late it may be noticed that a record has run out, where that makes room."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One record of an identity, as its quota sees it."""

    kind: Kind
    size: int
    """Bytes of its document."""
    expires_s: float
    profile: bytes
    """Packed, so that a delete by selector gives back what it takes."""
    version: int = 0
    """The same version that is posted again lives for the longest time that it was given."""


class _Account:
    """What one identity has, with its sums."""

    __slots__ = ("data", "interests", "looked_at_s", "records", "size")

    def __init__(self) -> None:
        self.records: dict[str, Holding] = {}
        self.data = self.interests = self.size = 0
        self.looked_at_s = -LOOK_S

    def put(self, full_id: str, holding: Holding) -> None:
        """Enter a record in the place of what had its id before."""
        self.remove(full_id)
        self.records[full_id] = holding
        self._add(holding, 1)

    def remove(self, full_id: str) -> None:
        """Forget a record; harmless when there is none."""
        known = self.records.pop(full_id, None)
        if known is not None:
            self._add(known, -1)

    def expire(self, now: float) -> None:
        """Forget what has run out; looked at once in `LOOK_S`, as an identity at its limit may
        ask again and again."""
        if now - self.looked_at_s < LOOK_S:
            return
        self.looked_at_s = now
        for name in [name for name, one in self.records.items() if one.expires_s <= now]:
            self.remove(name)

    def excess(self, leaving: set[str], holding: Holding, quota: Quota) -> str:
        """Which limit a record in the place of those would break; empty for none."""
        left = [self.records[full_id] for full_id in leaving if full_id in self.records]
        if holding.kind == DATA:
            most, what = quota.profiles, "profiles"
            count = self.data - sum(one.kind == DATA for one in left) + 1
        else:
            most, what = quota.interests, "interests"
            count = self.interests - sum(one.kind != DATA for one in left) + 1
        if most is not None and count > most:
            return f"{count} {what} are more than {most}"
        size = self.size - sum(one.size for one in left) + holding.size
        if quota.bytes is not None and size > quota.bytes:
            return f"{size} bytes are more than {quota.bytes}"
        return ""

    def _add(self, holding: Holding, sign: Literal[1, -1]) -> None:
        if holding.kind == DATA:
            self.data += sign
        else:
            self.interests += sign
        self.size += sign * holding.size


@dataclass(slots=True)
class _Bucket:
    """What an identity may still do now."""

    tokens: float
    at_s: float


class Ledger:
    """What the identities have that have a quota, and how fast they post."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[str, _Account] = OrderedDict()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._accounts)

    # -- what it has

    def charge(
        self,
        owner: str,
        full_id: str,
        holding: Holding,
        quota: Quota,
        now: float,
        instead: str = "",
    ) -> None:
        """Enter a record, in the place of what had its id before; raises `Refused` when it is
        beyond the quota.  `instead`: the id of what it is to replace elsewhere, which counts until
        it is released, but not against this one.

        By the whole id, not by its stem: one stem may lie in many regions."""
        account = self._accounts.setdefault(owner, _Account())
        self._accounts.move_to_end(owner)
        if account.excess({full_id, instead}, holding, quota):
            account.expire(now)
            excess = account.excess({full_id, instead}, holding, quota)
            if excess:
                raise Refused(
                    f"quota {quota.name!r}: {excess}, counted by the peer that you are linked to; "
                    "delete something, or wait until it runs out",
                    quota.name,
                )
        account.put(full_id, holding)
        while len(self._accounts) > IDENTITIES_MAX:
            self._accounts.popitem(last=False)

    def holding(self, owner: str, full_id: str) -> Holding | None:
        """What a record is counted as."""
        account = self._accounts.get(owner)
        return None if account is None else account.records.get(full_id)

    def holds(self, owner: str) -> bool:
        """Whether anything of an identity is counted here."""
        return owner in self._accounts

    def restore(self, owner: str, full_id: str, before: Holding | None) -> None:
        """Undo a `charge` whose post was refused further on."""
        if before is None:
            self.release(owner, full_id)
        elif owner in self._accounts:
            self._accounts[owner].put(full_id, before)

    def renew(self, owner: str, full_id: str, expires_s: float) -> None:
        """A record lives until then, if it is counted here."""
        known = self.holding(owner, full_id)
        if known is not None:
            self._accounts[owner].put(full_id, replace(known, expires_s=expires_s))

    def release(self, owner: str, full_id: str) -> None:
        """A record is gone."""
        account = self._accounts.get(owner)
        if account is not None:
            account.remove(full_id)
            if not account.records:
                del self._accounts[owner]

    def release_those(self, owner: str, is_gone: Callable[[Holding], bool]) -> None:
        """A delete by selector has taken those."""
        account = self._accounts.get(owner)
        for full_id, one in list(account.records.items()) if account is not None else ():
            if is_gone(one):
                self.release(owner, full_id)

    # -- how fast it is

    def spend(self, key: str, quota: Quota, now: float) -> None:
        """Count one post of a key; raises `Refused` when it comes too fast."""
        rate = quota.posts_per_second
        if rate is None:
            return
        most = max(rate, 1.0)
        bucket = self._buckets.setdefault(key, _Bucket(most, now))
        self._buckets.move_to_end(key)
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at_s) * rate)
        bucket.at_s = now
        if bucket.tokens < 1.0:
            raise Refused(
                f"quota {quota.name!r}: more than {rate:g} posts a second by way of this peer; "
                f"wait {(1.0 - bucket.tokens) / rate:.3g} s",
                quota.name,
            )
        bucket.tokens -= 1.0
        while len(self._buckets) > IDENTITIES_MAX:
            self._buckets.popitem(last=False)
