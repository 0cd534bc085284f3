"""Pace: how fast each identity posts by way of one peer.

Law of this file: pure, takes `now`.  A bucket that is full again is as good as none, so that room
is made without favour; where there is none, all further strangers share one (`quotas.py` has why).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from meteor.errors import Refused
from meteor.security.policy import Quota

STRANGERS_MAX: Final = 10_000
"""Identities that no rule names and that are counted one by one."""

LOOKED_AT: Final = 8
"""Accounts and buckets of strangers that are looked at for room before one more shares."""


@dataclass(slots=True)
class _Bucket:
    """What an identity may still do now."""

    tokens: float
    at_s: float
    rate: float

    def fill(self, rate: float, now: float) -> None:
        """What came in since it was looked at."""
        self.tokens = min(_most(rate), self.tokens + (now - self.at_s) * rate)
        self.at_s, self.rate = now, rate


class Pace:
    """The buckets of all."""

    def __init__(self, strangers_max: int = STRANGERS_MAX) -> None:
        self._strangers_max = strangers_max
        self._named: dict[str, _Bucket] = {}
        self._strangers: OrderedDict[str, _Bucket] = OrderedDict()  # next to look at first
        self._shared = _Bucket(1.0, 0.0, 1.0)

    def __len__(self) -> int:
        return len(self._named) + len(self._strangers)

    def spend(self, key: str, quota: Quota, now: float, *, is_named: bool) -> None:
        """Count one post of a key; raises `Refused` when it comes too fast."""
        rate = quota.posts_per_second
        if rate is None:
            return
        bucket = self._bucket(key, rate, now, is_named=is_named)
        bucket.fill(rate, now)
        if bucket.tokens < 1.0:
            with_others = "of all new strangers " * (bucket is self._shared)
            raise Refused(
                f"quota {quota.name!r}: more than {rate:g} posts a second {with_others}by way of "
                f"this peer; wait {(1.0 - bucket.tokens) / rate:.3g} s",
                quota.name,
            )
        bucket.tokens -= 1.0

    def _bucket(self, key: str, rate: float, now: float, *, is_named: bool) -> _Bucket:
        known = self._named.get(key) or self._strangers.get(key)
        if known is not None:
            return known
        if not is_named and not self._has_room(now):
            return self._shared
        buckets = self._named if is_named else self._strangers
        bucket = buckets[key] = _Bucket(_most(rate), now, rate)
        return bucket

    def _has_room(self, now: float) -> bool:
        for _ in range(LOOKED_AT):
            if len(self._strangers) < self._strangers_max:
                return True
            key, bucket = next(iter(self._strangers.items()))
            bucket.fill(bucket.rate, now)
            if bucket.tokens >= _most(bucket.rate):
                del self._strangers[key]
            else:
                self._strangers.move_to_end(key)
        return len(self._strangers) < self._strangers_max


def _most(rate: float) -> float:
    """A second's worth may come at once, and one post always."""
    return max(rate, 1.0)
