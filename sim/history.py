"""What a workload did and was told: the ground truth that checkers judge answers by.

Law of this file: plain records of the outside view, what clients asked, when, and what came back;
nothing of a peer's inside, so that a peer cannot talk a checker out of what it promised.  Times
are virtual seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sim.places import first_common, words_meet
from squid import Box, Interval, Intervals

ALIVE_FOREVER: Final = float("inf")
MERGED_WITHIN_S: Final = 10.0
"""How long after a partition the sides may take to know what each acknowledged; the questions asked
when everything has healed excuse nothing."""
UNDER_WAY_S: Final = 5.0
"""How long a notice may be on its way to a client that is cut off from its peer, or whose peer is
held."""


@dataclass(slots=True, eq=False)
class Write:
    """One profile that somebody stored, and what became of it."""

    stem: str
    """Its identity, or label, chosen by the workload: known also when no receipt came."""
    index: int
    """Where it lies on the curve, or begins to."""
    value: float
    """What questions select it by; of a range the lowest."""
    ttl_s: float
    began_s: float
    """When the store was posted."""
    acknowledged_s: float | None = None
    """When a complete receipt came; None while its fate is unknown."""
    id: str = ""
    """Its full id, from the receipt."""
    delete_began_s: float | None = None
    deleted_s: float | None = None
    """When the receipt of its deletion came, which found it; None while its fate is unknown."""
    not_found_s: float | None = None
    """When a receipt of its deletion came that found nothing."""
    drift: float = 0.0
    """By which share the clocks that count its time may be fast or slow."""
    cleared_s: tuple[float, ...] = ()
    """When somebody began to delete the range that it is in, each time."""
    former: str = ""
    """The label of the write that it replaces."""
    renew_began_s: float | None = None
    renewed_s: float | None = None
    """When the receipt of its renewal came, for longer than any run; None while unknown."""
    not_renewed_s: float | None = None
    """When a receipt of its renewal came that found nothing."""
    high: float | None = None
    """Of a range of values the highest."""
    word: str = "*"
    """Its type, or a part of one with a star."""
    region: Box | None = None
    """Where it lies, if that is more than one place."""

    reposts: int = 0
    """How often it was posted again in a later version: who is interested may hear of each."""

    @property
    def top(self) -> float:
        """The highest of its values."""
        return self.value if self.high is None else self.high

    def meets(self, word: str, low: float, high: float) -> bool:
        """Whether it has a type, or part of one, and a value in common with what is asked for."""
        return low <= self.top and self.value <= high and words_meet(word, self.word)

    def index_for(self, asked: Box | None) -> int:
        """Where whoever asks for a region is told of it: at the first place that both have."""
        if self.region is None or asked is None:
            return self.index
        common = first_common(self.region, asked)
        return self.index if common is None else common

    def surely_lives(self, since_s: float, until_s: float, slack_s: float) -> bool:
        """Whether it was acknowledged by `since_s` and nothing ended it before `until_s`, by
        whatever clock."""
        if self.delete_began_s is not None and self.delete_began_s <= until_s:
            return False
        return self.has_time(since_s, until_s, slack_s)

    def has_time(self, since_s: float, until_s: float, slack_s: float) -> bool:
        """The same of its time alone, whoever deletes it."""
        if self.acknowledged_s is None or self.acknowledged_s > since_s:
            return False
        if self.renewed_s is not None and self.renewed_s <= since_s:
            return True
        return self.began_s + self.ttl_s / (1 + self.drift) > until_s + slack_s

    def expired_by(self, at_s: float, slack_s: float) -> bool:
        """Whether its time was over by then, by the slowest clock, counted from the receipt,
        whatever the way took."""
        if self.acknowledged_s is None or self.renew_began_s is not None:
            return False
        return self.acknowledged_s + self.ttl_s / (1 - self.drift) + slack_s < at_s


@dataclass(frozen=True, slots=True)
class Question:
    """A retrieve by value and its answer."""

    low: float
    high: float
    began_s: float
    ended_s: float
    found: tuple[str, ...]
    """The stems of its matches, in the order in which they came."""
    complete: bool
    missing: Intervals = ()
    """The curve indexes that it named as not answered for."""
    last: bool = False
    """Whether it was asked when the run was over and everything had healed."""
    garbled: tuple[str, ...] = ()
    """The stems of those matches whose data, profile or time to live is not what was stored."""
    word: str = "*"
    """The type that it asks for, or a part of one."""
    region: Box | None = None
    """Where that lies; None: wherever its values do."""

    def selects(self, write: Write) -> bool:
        """Whether the write is among what was asked for."""
        return write.meets(self.word, self.low, self.high)

    def excuses(self, write: Write) -> bool:
        """Whether the answer says that it does not speak for where it would tell of the write."""
        if not self.complete and not self.missing:
            return True
        return bool(self.missing) and within(write.index_for(self.region), self.missing)


@dataclass(slots=True, eq=False)
class Subscription:
    """An interest by value, and what its client was told."""

    name: str
    low: float
    high: float
    began_s: float
    """When it was posted: it may be told from then on, before its receipt comes."""
    opened_s: float
    """When it was acknowledged."""
    missing: Intervals = ()
    """What it said it does not cover."""
    told: list[tuple[float, str]] = field(default_factory=list)
    """When, and the stem of what."""
    garbled: list[str] = field(default_factory=list)
    """The stems of what came with other data, or another profile, than was stored."""
    word: str = "*"
    """The type that it is interested in, or a part of one."""
    region: Box | None = None
    """Where that lies; None: wherever its values do."""
    once: bool = False
    """Whether it is over with the first notice."""
    ended_s: float = ALIVE_FOREVER
    """When its client let go of it, or ended: it is told nothing from then on."""
    delete_began_s: float | None = None
    deleted_s: float | None = None
    """When the receipt of its deletion came, which found it."""
    not_found_s: float | None = None
    """When a receipt of its deletion came that found nothing."""
    client: object = None
    """Whose it is, where that counts."""
    goes_on: bool = False
    """Whether there was one under this name before."""

    @property
    def fresh_s(self) -> float:
        """Since when nothing comes that was over: of one that goes on notices may be under way that
        were sent before."""
        return self.began_s - (UNDER_WAY_S if self.goes_on else 0.0)

    def selects(self, write: Write) -> bool:
        """Whether the write is among what it is interested in."""
        return write.meets(self.word, self.low, self.high)


@dataclass(slots=True, eq=False)
class Watching:
    """A watch, and who it was told is interested."""

    name: str
    low: float
    high: float
    word: str
    region: Box
    began_s: float
    opened_s: float
    missing: Intervals = ()
    told: list[tuple[float, str, str]] = field(default_factory=list)
    """When, `appeared` or `gone`, and the name of the interest."""
    active: bool | None = None
    """Whether it said that somebody is interested when the run was over; None: it was over, too."""

    def meets(self, subscription: Subscription) -> bool:
        """Whether it is to be told of an interest."""
        within_values = self.low <= subscription.high and subscription.low <= self.high
        return within_values and words_meet(self.word, subscription.word)


@dataclass(slots=True, eq=False)
class Cut:
    """A time in which some peers could not reach the others."""

    began_s: float
    healed_s: float = ALIVE_FOREVER

    def may_hide(self, began_s: float, acknowledged_s: float, asked_s: float) -> bool:
        """Whether only one side may know of what was posted and acknowledged then while the other
        is asked: it was under way after the cut began, and neither it nor the question came when
        the sides had had time to become one again."""
        together_s = self.healed_s + MERGED_WITHIN_S
        return acknowledged_s >= self.began_s and max(began_s, asked_s) < together_s


@dataclass(slots=True)
class History:
    """Everything that the clients of one run did."""

    writes: dict[str, Write] = field(default_factory=dict)
    """By label."""
    questions: list[Question] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)
    unheard: dict[str, Subscription] = field(default_factory=dict)
    """By name, the interests that were posted last and of which no receipt came: they may live."""
    watches: list[Watching] = field(default_factory=list)
    not_attached: list[tuple[float, str, str]] = field(default_factory=list)
    """When an attachment was refused, the name of its interest, and the rule."""
    wounds: Intervals = ()
    """Curve indexes whose every copy was lost, or away, at some time of the run."""
    cuts: list[Cut] = field(default_factory=list)
    """When the network was partitioned."""
    ended_s: float = 0.0
    """When the run was over, the healing included."""
    labels: dict[str, str] = field(default_factory=dict)
    """Of what was replaced, by full id; the label of what was stored is its stem."""

    def label_of(self, full_id: str) -> str:
        """What the write is called that has this id."""
        return self.labels.get(full_id) or full_id.partition(".")[0]

    def may_be_hidden(self, began_s: float, acknowledged_s: float, question: Question) -> bool:
        """Whether a partition is the reason that an answer does not know of a post."""
        if question.last:
            return False
        return self.may_be_apart(began_s, acknowledged_s, question.began_s)

    def may_be_apart(self, began_s: float, acknowledged_s: float, asked_s: float) -> bool:
        """Whether what was posted and acknowledged then may be on the other side of a partition
        from whoever is asked at `asked_s`."""
        return any(cut.may_hide(began_s, acknowledged_s, asked_s) for cut in self.cuts)

    def is_cut(self, at_s: float) -> bool:
        """Whether the network was partitioned then, or had not had time to become one again."""
        return any(cut.began_s <= at_s < cut.healed_s + MERGED_WITHIN_S for cut in self.cuts)

    def last_questions(self) -> Iterator[Question]:
        """Those asked when everything had healed."""
        return (question for question in self.questions if question.last)


def within(index: int, intervals: tuple[Interval, ...]) -> bool:
    """Whether any of the closed intervals holds the index."""
    return any(first <= index <= last for first, last in intervals)
