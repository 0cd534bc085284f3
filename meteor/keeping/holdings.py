"""What a peer answers for: intervals of the curve, whatever the ring's pointers say.

Law of this file: pure; interval arithmetic and bookkeeping, no I/O and no clock.  Ring pointers say
where to route, holdings alone say who answers; neither is derived from the other (DESIGN section
5).  An interval is held *whole* (everything acknowledged for it is here) or *lost* (its former
holder is gone without a hand-off: new posts are taken, questions are answered "missing").  With one
copy a holding has one holder; copies and their epochs come on top of this.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from chord import Contact
from squid import Interval, intersect, merge, subtract

GIVEN_MAX = 64
"""Hand-offs remembered, so that a late question is sent on to the new holder at once."""

Intervals = tuple[Interval, ...]


class Holdings:
    """The intervals that one peer holds, freezes, has given away and waits for."""

    def __init__(self, held: Intervals = (), lost: Intervals = ()) -> None:
        self._held: Intervals = merge(held)
        self._lost: Intervals = intersect(merge(lost), self._held)
        self._frozen: OrderedDict[int, Interval] = OrderedDict()
        self._pinned: dict[int, int] = {}
        self._given: OrderedDict[Interval, Contact] = OrderedDict()
        self._awaited: dict[int, tuple[Interval, Contact]] = {}
        self._merging: list[tuple[Interval, int]] = []
        self._grants = self._hand_offs = 0
        self.hope: Callable[[], Intervals] = tuple
        """Of what it will soon be known whether anything is missing; who settles it sets it."""
        self.held_by_few: Callable[[], tuple[Intervals, Intervals]] | None = None
        """What fewer hold than have to: lately, which may be over soon, and for longer; who knows
        how many have to sets it."""
        self.heard: Callable[[], Intervals] = tuple
        """Of what others were heard of that is not written down yet, whatever else is found."""
        self.on_gain: Callable[[Intervals], None] = lambda _: None
        """Told what is held anew; who remembers what was done there sets it."""

    @property
    def held(self) -> Intervals:
        """Everything answered for here, sorted and disjoint."""
        return self._held

    @property
    def lost(self) -> Intervals:
        """The part of `held` whose past is not known here."""
        return self._lost

    def doubted(self, part: Intervals) -> Intervals:
        """What of `part` may be known elsewhere alone, and is about to be settled: worth a wait."""
        unknown = intersect(part, self._lost) if self._lost else ()
        hoped = intersect(unknown, self.hope()) if unknown else ()
        return hoped if self.held_by_few is None else merge(hoped, self.few(part)[0])

    def is_open(self, part: Intervals) -> bool:
        """Whether something of `part` is not answered as soon as it is asked."""
        return bool(self.doubted(part)) or (self.held_by_few is not None and any(self.few(part)))

    def few(self, part: Intervals) -> tuple[Intervals, Intervals]:
        """What of `part` waits for more holders, before which nothing of it counts, and what has
        waited for long."""
        if self.held_by_few is None:
            return (), ()
        lately, long = self.held_by_few()
        return intersect(part, lately), intersect(part, long)

    def missing(self, part: Intervals) -> Intervals:
        """What of `part` has no complete answer here."""
        lost = intersect(part, self._lost)
        return lost if self.held_by_few is None else merge(lost, self.few(part)[1])

    def gain(self, part: Intervals, *, lost: Intervals = ()) -> Intervals:
        """Hold `part` from now on, `lost` of it without its past; returns what is new."""
        new = subtract(merge(part), self._held)
        self._held = merge(self._held + new)
        self._lost = merge(subtract(self._lost, subtract(merge(part), lost)) + intersect(lost, new))
        for interval in list(self._given):
            if intersect((interval,), merge(part)):
                del self._given[interval]
        self.on_gain(new)
        return new

    def give(self, part: Intervals, to: Contact) -> None:
        """Stop answering for `part`, which `to` holds from now on."""
        part = merge(part)
        self._held = subtract(self._held, part)
        self._lost = subtract(self._lost, part)
        for interval in part:
            self._given.pop(interval, None)
            self._given[interval] = to
        while len(self._given) > GIVEN_MAX:
            self._given.popitem(last=False)

    def doubt(self, part: Intervals) -> None:
        """Something of `part` may be known elsewhere alone."""
        self._lost = merge(self._lost, intersect(part, self._held))

    def reckon(self, unknown: Intervals) -> None:
        """Of what is held only `unknown` may be known elsewhere alone."""
        self._lost = intersect(merge(unknown), self._held)

    # -- freezing: nothing new begins in a part that is about to be given away

    def freeze(self, interval: Interval) -> int:
        """Begin nothing new in `interval` until `thaw` with the grant that this returns."""
        self._grants += 1
        self._frozen[self._grants] = interval
        return self._grants

    def thaw(self, grant: int) -> None:
        """End a freeze; harmless when it has ended."""
        self._frozen.pop(grant, None)

    def pin(self, grant: int) -> None:
        """Let a freeze last until `thaw`, whatever `thaw_if_idle` says: its interval is being
        given away."""
        if grant in self._frozen:
            self._pinned[grant] = self._pinned.get(grant, 0) + 1

    def unpin(self, grant: int) -> None:
        """The giving ended; the last one thaws."""
        self._pinned[grant] -= 1
        if not self._pinned[grant]:
            del self._pinned[grant]
            self.thaw(grant)

    def thaw_if_idle(self, grant: int) -> None:
        """End a freeze that nobody has come back for."""
        if grant not in self._pinned:
            self.thaw(grant)

    def is_frozen(self, part: Intervals) -> bool:
        """Whether any of `part` is frozen."""
        if not self._frozen:
            return False
        return any(intersect((interval,), part) for interval in self._frozen.values())

    def is_granted(self, grant: int, interval: Interval) -> bool:
        """Whether this very freeze still holds."""
        return self._frozen.get(grant) == interval

    @property
    def frozen_count(self) -> int:
        """How many freezes hold."""
        return len(self._frozen)

    # -- two who hold the same

    def merging(self, interval: Interval, source: Contact) -> Callable[[], None]:
        """Remember that what `source` has of `interval` is taken in, and that it is to let go,
        until what this returns is called."""
        entry = interval, source.id
        self._merging.append(entry)
        return lambda: self._merging.remove(entry)

    def is_merging(self, part: Intervals, source: Contact) -> bool:
        """Whether just that is under way."""
        return any(
            source.id == one and intersect((interval,), part) for interval, one in self._merging
        )

    # -- who else

    def await_from(self, interval: Interval, source: Contact) -> int:
        """Remember that `interval` is on its way here from `source`, until `awaited_no_more` of
        what this returns: it may come twice at once, as it is claimed here and offered there."""
        self._hand_offs += 1
        self._awaited[self._hand_offs] = interval, source
        return self._hand_offs

    @property
    def awaiting(self) -> bool:
        """Whether anything is on its way here."""
        return bool(self._awaited)

    @property
    def awaited(self) -> Intervals:
        """What is on its way here."""
        return merge(tuple(interval for interval, _ in self._awaited.values()))

    def find(self, part: Intervals) -> None:
        """The past of `part` is known here now."""
        self._lost = subtract(self._lost, subtract(part, self.heard()))

    def awaited_no_more(self, hand_off: int) -> None:
        """It ended, well or not."""
        self._awaited.pop(hand_off, None)

    def holder_of(self, index: int) -> Contact | None:
        """Another peer known to hold `index`: whom it is awaited from, or was given to."""
        for (first, last), source in self._awaited.values():
            if first <= index <= last:
                return source
        for first, last in reversed(self._given):
            if first <= index <= last:
                return self._given[first, last]
        return None

    def given_to(self, contact: Contact) -> Intervals:
        """What this peer has given to `contact` lately."""
        return merge(tuple(part for part, to in self._given.items() if to.id == contact.id))

    def forget_holder(self, contact: Contact) -> None:
        """Believe no more that `contact` holds what it was given."""
        for interval in [part for part, holder in self._given.items() if holder == contact]:
            del self._given[interval]

    def elsewhere(self) -> tuple[Contact, ...]:
        """The peers that gave to, or took from, this one lately: where to ask for an interval."""
        contacts = {contact.id: contact for contact in self._given.values()}
        contacts.update({contact.id: contact for _, contact in self._awaited.values()})
        return tuple(contacts[key] for key in sorted(contacts))
