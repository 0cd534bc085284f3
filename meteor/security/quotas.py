"""Quotas: how much each identity has and does by way of one peer.

Law of this file: pure, takes `now`.  Counted is what passes this peer and still lives: another
entry peer counts for itself, and a restart begins anew (docs/security.md says so).  Bounded: what
is remembered of one identity by its quota.  Whom the policy names is counted whatever others do; of
strangers, who make identities at no cost, `STRANGERS_MAX` have accounts of their own, and all
further ones together one.  To forget the idlest was rejected: who made enough of them pushed out
whoever he liked, and had every quota anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from arms import DATA, Kind
from meteor.errors import Refused
from meteor.security.pace import LOOKED_AT, STRANGERS_MAX, Pace
from meteor.security.policy import Quota

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
    is_settled: bool = False
    """Whether the post that brought it was answered; a delete that began earlier takes it not."""

    def at_least(self, other: Holding | None) -> Holding:
        """As large, as long and as late as the other besides: either of them may be there."""
        if other is None:
            return self
        return replace(
            self,
            size=max(self.size, other.size),
            expires_s=max(self.expires_s, other.expires_s),
            version=max(self.version, other.version),
        )


Counted = Sequence[tuple[str, Holding]]
"""Records by their ids, as they are counted."""


@dataclass(slots=True, eq=False)
class Charge:
    """A record that is being posted: what takes its place, and what comes back if it is not."""

    owner: str
    full_id: str
    holding: Holding
    """How it counts when it alone is there."""
    claimed: Holding
    """How it counts until that is known."""
    before: Holding | None
    """What had its id before, and is of its kind: as that was answered, where it was being posted
    too."""
    instead: str
    """The id that it is to leave; empty for none."""
    left: Holding | None
    """What has that id."""

    @property
    def key(self) -> _Key:
        """Where it counts."""
        return self.owner, self.full_id, self.holding.kind == DATA

    def renew(self, longer: _Longer) -> None:
        """Whatever comes of it lives longer."""
        self.holding, self.claimed = longer.of(self.holding), longer.of(self.claimed)
        self.before = None if self.before is None else longer.of(self.before)


class _Longer:
    """Holdings that live until then at least.  Of one there is one: charges know by identity what
    counts for them."""

    def __init__(self, expires_s: float) -> None:
        self._expires_s = expires_s
        self._made: dict[int, tuple[Holding, Holding]] = {}  # with it: nothing else gets its id

    def of(self, one: Holding) -> Holding:
        """The holding itself if it lives as long, or else the one in its place."""
        if one.expires_s >= self._expires_s:
            return one
        made = one, replace(one, expires_s=self._expires_s)
        return self._made.setdefault(id(one), made)[1]


_Key = tuple[str, str, bool]
"""A record by its owner, its id, and whether it is data: until a post is answered both kinds may be
there."""


class _Account:
    """What one identity has, with its sums; or what many strangers have together."""

    __slots__ = ("data", "interests", "looked_at_s", "records", "size")

    def __init__(self) -> None:
        self.records: dict[_Key, Holding] = {}
        self.data = self.interests = self.size = 0
        self.looked_at_s = -LOOK_S

    def put(self, owner: str, full_id: str, holding: Holding) -> None:
        """Enter a record in the place of what had its id before."""
        key = owner, full_id, holding.kind == DATA
        self.remove(key)
        self.records[key] = holding
        self._add(holding, 1)

    def remove(self, key: _Key) -> None:
        """Forget a record; harmless when there is none."""
        known = self.records.pop(key, None)
        if known is not None:
            self._add(known, -1)

    def expire(self, now: float) -> None:
        """Forget what has run out; looked at once in `LOOK_S`, as an identity at its limit may
        ask again and again."""
        if now - self.looked_at_s < LOOK_S:
            return
        self.looked_at_s = now
        for key in [key for key, one in self.records.items() if one.expires_s <= now]:
            self.remove(key)

    def excess(self, leaving: Sequence[Holding], holding: Holding, quota: Quota) -> str:
        """Which limit a record in the place of those would break; empty for none."""
        if holding.kind == DATA:
            most, what, count = quota.profiles, "profiles", self.data
        else:
            most, what, count = quota.interests, "interests", self.interests
        count += 1 - len(leaving)
        if most is not None and count > most:
            return f"{count} {what} are more than {most}"
        size = self.size - sum(one.size for one in leaving) + holding.size
        if quota.bytes is not None and size > quota.bytes:
            return f"{size} bytes are more than {quota.bytes}"
        return ""

    def _add(self, holding: Holding, sign: Literal[1, -1]) -> None:
        if holding.kind == DATA:
            self.data += sign
        else:
            self.interests += sign
        self.size += sign * holding.size


class Ledger:
    """What the identities have that have a quota, and how fast they post."""

    def __init__(self, strangers_max: int = STRANGERS_MAX) -> None:
        self._strangers_max = strangers_max
        self._accounts: dict[str, _Account] = {}
        self._strangers: OrderedDict[str, None] = OrderedDict()  # next to look at first
        self._shared = _Account()
        self._open: dict[_Key, list[Charge]] = {}  # neither settled nor taken back
        self._pace = Pace(strangers_max)

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
        *,
        is_named: bool = True,
    ) -> Charge:
        """Enter a record that is being posted, to be settled or taken back; raises `Refused` when
        it is beyond the quota.  It counts as large and as long as what had its id before, as
        nobody knows yet which will be there; `instead`, the id of what it is to replace elsewhere,
        counts on, but not against this one.  `is_named`: whether the policy names the owner.

        By the whole id, not by its stem: one stem may lie in many regions."""
        account = self._account(owner, now, is_named=is_named)
        charge = _charge(account, owner, full_id, holding, instead)
        leaving = [one for one in (charge.before, charge.left) if one is not None]
        if account.excess(leaving, holding, quota):
            account.expire(now)
            charge = _charge(account, owner, full_id, holding, instead)
            leaving = [one for one in (charge.before, charge.left) if one is not None]
            excess = account.excess(leaving, holding, quota)
            if excess:
                self._drop_empty(owner)
                with_others = " with all strangers for whom there was no room" * (
                    account is self._shared
                )
                raise Refused(
                    f"quota {quota.name!r}: {excess}{with_others}, counted by the peer that you "
                    "are linked to; delete something, or wait until it runs out",
                    quota.name,
                )
        account.put(owner, full_id, charge.claimed)
        self._open.setdefault(charge.key, []).append(charge)
        return charge

    def _account(self, owner: str, now: float, *, is_named: bool) -> _Account:
        """Where what an owner posts now is counted."""
        account = self._accounts.get(owner)
        if account is None:
            if not is_named and not self._has_room(now):
                return self._shared
            account = self._accounts[owner] = _Account()
            if not is_named:
                self._strangers[owner] = None
            self._bring(owner, account)
        return account

    def _bring(self, owner: str, account: _Account) -> None:
        """What an owner has among those who share counts in the account of his own from now on."""
        for key in [key for key in self._shared.records if key[0] == owner]:
            account.put(owner, key[1], self._shared.records[key])
            self._shared.remove(key)

    def _has_room(self, now: float) -> bool:
        """Whether one more stranger gets an account: in the place of one that has nothing left."""
        for _ in range(LOOKED_AT):
            if len(self._strangers) < self._strangers_max:
                return True
            owner = next(iter(self._strangers))
            self._strangers.move_to_end(owner)
            self._accounts[owner].expire(now)
            self._drop_empty(owner)
        return len(self._strangers) < self._strangers_max

    def settle(self, charge: Charge, *, has_replaced: bool) -> None:
        """The post was answered: it has taken the place of what was there before, or may not have.
        Harmless after `take_back`; where the id was posted again meanwhile, that one counts."""
        is_last = charge.before is None or charge.before.version <= charge.holding.version
        became = charge.holding if has_replaced and is_last else charge.claimed
        became = replace(became, is_settled=True)
        if not self._end(charge, became):
            return
        owner, full_id = charge.owner, charge.full_id
        if has_replaced:  # that is gone, whatever comes of the other post
            is_data = charge.holding.kind == DATA
            self.replaced(owner, full_id, charge.holding.version, is_data=not is_data)
            if charge.left is not None:
                self.release_this(owner, charge.instead, charge.left)
        account = self._claimed(charge)
        if account is None:
            return
        account.put(owner, full_id, became)

    def replaced(self, owner: str, full_id: str, version: int, *, is_data: bool) -> None:
        """One of the other kind has taken the place of what is here up to this version; what is
        later may be on its way, to replace that."""
        key = owner, full_id, is_data
        account = self._keeper(key)
        if account is not None and account.records[key].version <= version:
            account.remove(key)
            self._drop_empty(owner)
        for charge in self._open.get(key, ()):
            if charge.before is not None and charge.before.version <= version:
                charge.before = None

    def take_back(self, charge: Charge) -> None:
        """Undo a `charge` whose post was refused further on, unless its id was posted again."""
        self._end(charge, charge.before)
        account = self._claimed(charge)
        if account is None:
            return
        account.remove(charge.key)
        if charge.before is not None:
            account.put(charge.owner, charge.full_id, charge.before)
        self._drop_empty(charge.owner)

    def _end(self, charge: Charge, became: Holding | None) -> bool:
        """A charge is known to have become this: what overtook it has that to bring back, as nobody
        would settle its claim any more.  Whether it was open."""
        others = self._open.get(charge.key, [])
        if charge not in others:
            return False
        others.remove(charge)
        for other in others:
            if other.before is charge.claimed:
                other.before = became
        if not others:
            del self._open[charge.key]
        return True

    def _claimed(self, charge: Charge) -> _Account | None:
        """Whose record still counts as it was charged; None where that was overtaken."""
        key = charge.key
        account = self._keeper(key)
        return account if account and account.records[key] is charge.claimed else None

    def _keeper(self, key: _Key) -> _Account | None:
        """The account with this record."""
        own = self._accounts.get(key[0])
        if own is not None and key in own.records:
            return own
        return self._shared if key in self._shared.records else None

    def holding(self, owner: str, full_id: str, *, is_data: bool = True) -> Holding | None:
        """What a record is counted as."""
        key = owner, full_id, is_data
        account = self._keeper(key)
        return None if account is None else account.records[key]

    def all_of(self, owner: str, full_id: str) -> list[Holding]:
        """What is counted under an id, of either kind."""
        both = (self.holding(owner, full_id, is_data=is_data) for is_data in (True, False))
        return [one for one in both if one is not None]

    def settled_of(self, owner: str) -> Counted:
        """What an identity has, but for what is being posted."""
        own = self._accounts.get(owner)
        records = [*self._shared.records.items(), *(own.records.items() if own else ())]
        return [(key[1], one) for key, one in records if key[0] == owner and one.is_settled]

    def renew(self, owner: str, full_id: str, expires_s: float) -> None:
        """A record lives until then at least, if it is counted here: of two renewals nobody knows
        which came last, nor whether it found what is being posted or what was there before."""
        for is_data in (True, False):
            key = owner, full_id, is_data
            account = self._keeper(key)
            if account is not None:
                longer = _Longer(expires_s)
                for charge in self._open.get(key, ()):
                    charge.renew(longer)
                account.put(owner, full_id, longer.of(account.records[key]))

    def release(self, owner: str, full_id: str) -> None:
        """A record is gone."""
        for is_data in (True, False):
            account = self._keeper((owner, full_id, is_data))
            if account is not None:
                account.remove((owner, full_id, is_data))
                self._drop_empty(owner)

    def release_this(self, owner: str, full_id: str, holding: Holding) -> None:
        """A record is gone, unless it was posted or renewed since it was counted so."""
        key = owner, full_id, holding.kind == DATA
        account = self._keeper(key)
        if account is not None and account.records[key] is holding:
            account.remove(key)
            self._drop_empty(owner)

    def _drop_empty(self, owner: str) -> None:
        account = self._accounts.get(owner)
        if account is not None and not account.records:
            del self._accounts[owner]
            self._strangers.pop(owner, None)

    # -- how fast it is

    def spend(self, key: str, quota: Quota, now: float, *, is_named: bool = True) -> None:
        """Count one post of a key; raises `Refused` when it comes too fast."""
        self._pace.spend(key, quota, now, is_named=is_named)


def _charge(account: _Account, owner: str, full_id: str, holding: Holding, instead: str) -> Charge:
    is_data = holding.kind == DATA
    before = account.records.get((owner, full_id, is_data))
    left = None
    if instead not in ("", full_id):
        left = account.records.get((owner, instead, is_data))
    if before is not None and before.version == holding.version:
        holding = replace(holding, expires_s=max(holding.expires_s, before.expires_s))
    return Charge(owner, full_id, holding, holding.at_least(before), before, instead, left)
