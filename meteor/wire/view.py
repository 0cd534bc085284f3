"""A view: who answers for some intervals, who keeps copies of them, and in which epoch.

Law of this file: frozen values and interval arithmetic; what follows from several views is
`meteor.keeping.views`' (DESIGN section 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from chord import Contact, WideInt, dataclass, replace
from meteor.wire.messages import WireInterval
from squid import Intervals, intersect, merge, subtract

RIVALS_MAX: Final = 16
"""Rivals that one view names: more than a ring falls into parts at once.  Beyond, their intervals
are taken as lost."""

HEARSAY: Final = 0
"""Instead of a rival's epoch: its only holder said that it holds the interval too, and is to be
asked again."""

EPOCHS: Final = 1 << 62
"""Epochs lie below: more changes than a ring can live to see, and fewer than the wire can carry."""

ViewKey = tuple[int, int]
"""The primary's id, and its number of the view."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another view of these intervals under which something may have been acknowledged beside this
    one, as in a partition, and which is not merged yet."""

    intervals: tuple[WireInterval, ...]
    epoch: int
    holders: tuple[Contact, ...]
    """Its primary, and who kept copies."""
    lost: tuple[WireInterval, ...] = ()
    """The part whose past was not known there either."""
    number: int = 0
    """As its primary numbered that view; 0 where nobody said."""

    def is_next_of(self, view: View) -> bool:
        """Whether it is a later epoch of just that view."""
        primary = self.holders[-1].id if self.holders else None
        return view.key == (primary, self.number) and view.epoch < self.epoch


@dataclass(frozen=True, slots=True)
class Settled:
    """A view, as what began after it remembers it: all of its content is there too."""

    primary: Contact
    number: int
    epoch: int
    intervals: tuple[WireInterval, ...]
    copies: tuple[Contact, ...]
    lost: tuple[WireInterval, ...] = ()
    rivals: tuple[Rival, ...] = ()

    def within(self, part: Iterable[WireInterval]) -> View | None:
        """What of `part` it had, as a view; None of nothing."""
        whole = View(
            self.primary, self.number, self.epoch, self.intervals, self.copies, self.lost,
            self.rivals,
        )  # fmt: skip
        return whole.within(part)


@dataclass(frozen=True, slots=True)
class View:
    """One primary's holding of some intervals, and who keeps copies of it."""

    primary: Contact
    number: int
    """Drawn by the primary: it may have several views, as their copies differ."""
    epoch: int
    intervals: tuple[WireInterval, ...]
    copies: tuple[Contact, ...]
    """Who has everything besides the primary."""
    lost: tuple[WireInterval, ...] = ()
    """The part whose past nobody knew when it was taken over."""
    rivals: tuple[Rival, ...] = ()
    """What was answered for elsewhere at the same time."""
    settled: Settled | None = None
    """Where it began as many fell, the last view before under which anything was kept: nothing is
    under this one, before its next epoch."""

    @property
    def is_brief(self) -> bool:
        """Whether nothing is kept under it."""
        return self.settled is not None

    def as_settled(self) -> Settled:
        """The last view under which anything was kept, of what has the content of this one."""
        return self.settled or Settled(
            self.primary, self.number, self.epoch, self.intervals, self.copies, self.lost,
            self.rivals,
        )  # fmt: skip

    @property
    def key(self) -> ViewKey:
        """What tells it from other views, in any epoch."""
        return self.primary.id, self.number

    @property
    def since(self) -> int:
        """In which epoch its primary began it, or a later one: what is left of a view whose part
        ended has a new number, and its epoch still."""
        return min(self.number, self.epoch)

    @property
    def holder_ids(self) -> frozenset[int]:
        """Their identifiers."""
        return frozenset((self.primary.id, *(copy.id for copy in self.copies)))

    @property
    def holders(self) -> tuple[Contact, ...]:
        """Primary and copies, each once."""
        return tuple({one.id: one for one in (*self.copies, self.primary)}.values())

    @property
    def unknown(self) -> Intervals:
        """What every answer must name: the lost part, and what rivals had."""
        return merge(self.lost, *(rival.intervals for rival in self.rivals))

    def within(self, part: Iterable[WireInterval]) -> View | None:
        """The view of what of `part` it has; None of nothing."""
        common = intersect(self.intervals, part)
        return _cut_to(self, common) if common else None

    def without(self, part: Iterable[WireInterval]) -> View | None:
        """The view of what is left of it; None of nothing."""
        left = subtract(self.intervals, part)
        return _cut_to(self, left) if left else None

    def has_copy(self, peer_id: int) -> bool:
        """Whether a peer is one of the copies."""
        return any(copy.id == peer_id for copy in self.copies)

    def counts_on(self, contact: Contact) -> bool:
        """Whether a peer is one of the copies in the life that it has now: one that was restarted
        keeps nothing for others until it is filled again, nor does one that was granted the
        identifier of a copy that died."""
        return any(
            (copy.id, copy.address) == (contact.id, contact.address)
            and copy.incarnation >= contact.incarnation
            for copy in self.copies
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """What this peer keeps for another one."""

    view: View
    whole: bool
    """False while it is being filled: it can answer for nothing."""
    before: tuple[View, ...] = ()
    """What was kept of it for other primaries, until this one is known to have begun: who falls now
    is to say that it had not moved on from that."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What of an ended view of somebody's is on the shelf, all of it."""

    primary: WideInt
    epoch: int
    intervals: tuple[WireInterval, ...]
    since: int = 0
    """Of no earlier epoch of that primary: it lost the past, or had a rival, and went on."""

    def shows(self, primary_id: int, epoch: int) -> bool:
        """Whether that is all which a primary had acknowledged there when an epoch of its ended."""
        return self.primary == primary_id and self.since <= epoch <= self.epoch


@dataclass(frozen=True, slots=True)
class Stored:
    """A former view whose content is not on the shelf: the interval's past was lost since."""

    view: View
    lot: int
    """Where in the attic its content is."""
    taken_in: tuple[Ended, ...] = ()
    """Of which ended views of others all content lies with it."""


def _cut_to(view: View, intervals: Intervals) -> View:
    if intervals == view.intervals and not view.lost and not view.rivals:
        return view
    lost, rivals = intersect(view.lost, intervals), rivals_within(view.rivals, intervals)
    return replace(view, intervals=intervals, lost=lost, rivals=rivals)


def rivals_within(rivals: Iterable[Rival], part: Intervals) -> tuple[Rival, ...]:
    """What of each lies in `part`, each once."""
    cut = (
        replace(one, intervals=intersect(one.intervals, part), lost=intersect(one.lost, part))
        for one in rivals
    )
    return tuple(dict.fromkeys(one for one in cut if one.intervals))


def parts_of(views: Iterable[View], part: Intervals) -> tuple[View, ...]:
    """What of each view lies in `part`."""
    return tuple(
        [_cut_to(one, common) for one in views if (common := intersect(one.intervals, part))]
    )


def is_passed_over(view: View, known: Iterable[View]) -> bool:
    """Whether a later view of some of it is known."""
    return any(
        (one.epoch, one.key) > (view.epoch, view.key) and intersect(one.intervals, view.intervals)
        for one in known
    )


def ended_within(ended: Iterable[Ended], part: Intervals) -> tuple[Ended, ...]:
    """What of each ended view lies in `part`."""
    return tuple(
        [
            one if common == one.intervals else replace(one, intervals=common)
            for one in ended
            if (common := intersect(one.intervals, part))
        ]
    )
