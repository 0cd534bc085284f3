"""What a share asks a rendezvous point to do: read and checked, or refused.

Law of this file: pure.  Shares come from other peers and hold what a client sent: nothing in them
is believed, and what cannot be carried out never reaches the point's own steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from arms import Profile
from chord import Fault, dataclass, replace
from meteor.admission import DELETES, KEPT_KINDS
from meteor.errors import MeteorError
from meteor.keeping.expiry_clock import is_over, left_ms, overlives
from meteor.keeping.out_of_reach import gives_way
from meteor.keeping.placement import GONE, MOVED, Key, Placed
from meteor.lifetimes import TTL_S_MAX
from meteor.wire import codec
from meteor.wire.document import decode_document, unpack_profile
from meteor.wire.operations import Carried, Operation
from meteor.wire.record_id import check_stem, split_id, stem_of
from squid import Box, HandOn, HilbertCurve

FIND: Final = "find"
"""The question for the interest of an id: for who attaches to it."""
MARKED = DELETES | {"cancel"}
MARK_BYTES: Final = 16
AMENDS = frozenset({"renew", "cancel", FIND})
OWN: Final = "own"
"""The mode of a cancel that is about its owner's record alone, where its id names nobody's, too."""
FOUND: Final = "found"
"""The mode of a cancel that takes no later version than its own, which was found to be selected."""
PERFORM: Final = "perform"
"""The verb of an application's action: its name stands in the document.  A `dry_run` asks who
would run it."""
OVER: Final = "over"
"""Refused: it may have been kept before, and had run out by its signer's clock."""
LEAST_MS: Final = 1
"""What has no time left is over at once: without any it would not be kept, and be a question."""
VERBS = DELETES | AMENDS | KEPT_KINDS.keys() | {PERFORM}


@dataclass(frozen=True, slots=True)
class Task:
    """An operation that can be carried out."""

    id: bytes
    box: Box
    """The region of the operation."""
    operation: Operation
    profile: Profile | None
    """What is posted, or selected; None where a record is named by its id."""

    @property
    def mark(self) -> bytes:
        """What the tombstones of a delete bear: of the request, as its client asks a second peer
        where the first fell, and is to hear what it did; of this operation alone where the request
        has no version of its own."""
        operation = self.operation
        if operation.verb not in MARKED or not operation.version:
            return self.id
        words = f"{operation.owner} {operation.id} {operation.version}".encode()
        return blake2b(words, digest_size=MARK_BYTES).digest()

    @property
    def passes(self) -> bool:
        """Whether it has no time to live: it meets what is kept, and is gone."""
        lives = self.operation.verb in KEPT_KINDS
        asks = self.operation.verb in {FIND, PERFORM}
        return asks or (lives and self.operation.ttl_ms == 0)

    @property
    def deletes(self) -> bool:
        """Whether it takes what a selector says."""
        return self.operation.verb in DELETES

    @property
    def takes(self) -> bool:
        """Whether it takes something for good, whichever version it is of by then."""
        return self.deletes or (self.operation.verb == "cancel" and not self.operation.moved_to)

    @property
    def asks(self) -> bool:
        """Whether its sender is to get what is kept."""
        return self.operation.verb in {"retrieve", PERFORM}

    @property
    def follows(self) -> bool:
        """Whether it looks here for what left another place; who names one record waits for
        that."""
        return self.operation.came_with > 0 and (self.passes or self.deletes)

    @property
    def may_come_late(self) -> bool:
        """Whether it harms nobody to do it when others may have done it long ago."""
        return self.passes or self.operation.verb in KEPT_KINDS

    @property
    def kept_ms(self) -> int:
        """How long it is to be kept; 0: it is not."""
        return self.operation.ttl_ms if self.operation.verb in KEPT_KINDS else 0

    def overlives(self, late_s: float) -> bool:
        """Whether it is to be kept, and would live too long, or come back, should it have lain for
        `late_s` seconds: it is kept elsewhere by now, or was."""
        return is_over(self.kept_ms, late_s) or overlives(self.kept_ms, late_s)

    def having_lain(self, share: HandOn, late_s: float) -> HandOn:
        """Its share with what is left of its time to live, where it lay for long; raises `Fault`
        when that is over."""
        # Its sender gave it up, however short that is: what is over by now lived elsewhere.
        left = None if is_over(self.kept_ms, late_s) else left_ms(self.kept_ms, late_s)
        if left is None:
            raise Fault("Late", "its time was over as it came")
        if left == self.kept_ms:
            return share
        return replace(share, body=codec.encode(replace(self.operation, ttl_ms=left)))

    @property
    def key(self) -> Key:
        """The identity of the record that it is about."""
        return self.operation.owner, stem_of(self.operation.id)

    @property
    def old_key(self) -> Key:
        """The identity under which its record may have left word here when it moved."""
        return self.operation.owner, self.operation.id


def as_time_goes(
    operation: Operation, now: Callable[[], float], began_s: float
) -> Callable[[], bytes]:
    """The body of its shares, as it is when they are issued.  Only the time that is left travels
    (DESIGN section 5): what is carried out long after it was asked for ends when it was to."""

    def body() -> bytes:
        left_ms = operation.ttl_ms - int((now() - began_s) * 1000)
        is_as_sent = left_ms == operation.ttl_ms or not operation.ttl_ms
        return codec.encode(
            operation if is_as_sent else replace(operation, ttl_ms=max(left_ms, LEAST_MS))
        )

    return body


def read_task(share: HandOn, curve: HilbertCurve) -> Task | None:
    """What a share asks for; None for what no peer of ours would send."""
    return _task(share.operation, share.low, share.high, share.body, curve)


@lru_cache(maxsize=16)
def _task(
    id: bytes, low: tuple[int, ...], high: tuple[int, ...], body: bytes, curve: HilbertCurve
) -> Task | None:
    """Remembered as `_read` is, and for the same."""
    found = _read(body, curve)
    return None if found is None else Task(id, Box(low, high), *found)


@lru_cache(maxsize=16)
def _read(body: bytes, curve: HilbertCurve) -> tuple[Operation, Profile | None] | None:
    """The last few are remembered: one share is looked at more than once, and one operation comes
    in several shares."""
    try:
        operation = codec.decode(body)
        if not isinstance(operation, Operation) or operation.verb not in VERBS:
            return None
        if _asks_once(operation):
            check_stem(operation.id)
        else:
            split_id(operation.id, curve)
        if operation.moved_to:
            split_id(operation.moved_to, curve)
        profile = None
        if operation.verb not in AMENDS:
            profile = unpack_profile(decode_document(operation.document).profile)
    except MeteorError:
        return None
    return (operation, profile) if 0 <= operation.ttl_ms <= TTL_S_MAX * 1000 else None


def _asks_once(operation: Operation) -> bool:
    """Whether it is a question that is not kept: it has an identity, and no place."""
    return operation.verb in {"retrieve", PERFORM} and operation.ttl_ms == 0


def refusal(carried: Carried, known: Placed | None) -> str:
    """Why a record is not taken beside what is known of its stem; empty when it is."""
    if known is None:
        return ""
    if known.carried.kind == GONE:
        return "deleted"
    if gives_way(known.carried, carried):
        return ""
    newer = known.carried.version > carried.version
    is_its_own = known.carried.kind == MOVED and not known.carried.moved_to
    same = known.carried.version == carried.version and not is_its_own  # word that it left itself
    return "older" if newer or (same and known.carried.blob != carried.blob) else ""
