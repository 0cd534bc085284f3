"""An account of everything that an overlay acknowledged, kept outside of it.

Law of this file: what is not known to have been refused may have happened.  A post or delete that
failed is *open*: it may be found or not.  Every answer is checked against the account as it was
when the question was asked and when the answer was there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from meteor import KeywordSpace, Match, Notification
from meteor.wire.record_id import split_id, stem_of

HOT = 80
"""The temperature from which the watchers want to know."""


@dataclass
class Account:
    """What was posted and deleted, and what came of it."""

    space: KeywordSpace
    posted: dict[str, str] = field(default_factory=dict)
    """Acknowledged: stem -> full id."""
    hot: set[str] = field(default_factory=set)
    """The stems that watchers must hear of, acknowledged or not."""
    deleting: set[str] = field(default_factory=set)
    """Stems for which a delete was sent."""
    deleted: set[str] = field(default_factory=set)
    """Stems whose delete was acknowledged."""
    open_posts: Counter[str] = field(default_factory=Counter)
    """Posts that failed, by the kind of failure: they may be there."""
    last_failure: str = ""
    phase: str = "started"
    """What was done to the overlay last."""
    notices: dict[str, Counter[str]] = field(default_factory=dict)
    """By watcher: how often each notification came."""
    answers: Counter[str] = field(default_factory=Counter)
    """Questions asked meanwhile: complete, incomplete, failed."""
    violations: list[str] = field(default_factory=list)
    apart: bool = False
    """Whether the overlay is in parts that know nothing of each other: what is complete is
    relative to the part then (DESIGN section 5)."""
    relative: int = 0
    """Answers that were right for a part only."""

    def judged(self, question: Question, wrong: str) -> None:
        """Note what was wrong with an answer."""
        if wrong and (self.apart or question.apart):
            self.relative += 1
        elif wrong:
            self.violations.append(wrong)

    # -- notifications

    def noted(self, watcher: str, notification: Notification) -> None:
        """A notification came."""
        self.notices.setdefault(watcher, Counter())[stem_of(notification.id)] += 1

    def unheard(self, watcher: str) -> set[str]:
        """What this watcher must still hear of."""
        must = (self.hot & self.posted.keys()) - self.deleting
        return must - self.notices.get(watcher, Counter()).keys()

    def repeated(self, watcher: str) -> dict[str, int]:
        """What this watcher's object handed out more than once."""
        return {stem: n for stem, n in self.notices.get(watcher, Counter()).items() if n > 1}

    def close(self, watchers: Iterable[str], **left: Collection[str]) -> None:
        """All is over: what watchers did not hear of, or more than once, is wrong as well, and so
        is whatever is `left`, by its name."""
        for watcher in watchers:
            left[f"{watcher} did not hear of"] = self.unheard(watcher)
            left[f"{watcher} heard twice of"] = self.repeated(watcher)
        for what, stems in left.items():
            if stems:
                named = what.replace("_", " ")
                self.violations.append(f"{named} {len(stems)}: {sorted(stems)[:3]}")

    # -- answers

    def question(self) -> Question:
        """Remember what an answer to a question asked now must hold."""
        return Question(
            self,
            frozenset(self.posted.keys() - self.deleting),
            frozenset(self.deleted),
            self.phase,
            self.apart,
        )

    def lies_in(self, stem: str, intervals: tuple[tuple[int, int], ...]) -> bool:
        """Whether the place of a posted message is in one of the curve intervals."""
        curve = self.space.curve
        _, box = split_id(self.posted[stem], curve)
        index = curve.encode(box.low)
        return any(first <= index <= last for first, last in intervals)


@dataclass(frozen=True)
class Question:
    """What was acknowledged when a question was asked."""

    account: Account
    must: frozenset[str]
    dead: frozenset[str]
    phase: str
    apart: bool

    def check(
        self, matches: list[Match], *, complete: bool, missing: tuple[tuple[int, int], ...]
    ) -> tuple[set[str], str]:
        """The stems not found, and what is wrong with that: "" when the answer is honest."""
        account = self.account
        found = {stem_of(match.id) for match in matches}
        phase = f"asked when {self.phase}, answered when {account.phase}"
        lacking = set(self.must - account.deleting - found)
        returned = found & self.dead
        silent = [stem for stem in sorted(lacking) if not account.lies_in(stem, missing)]
        wrong = []
        if returned:
            wrong.append(f"{len(returned)} deleted are back: {sorted(returned)[:3]}")
        if complete and missing:
            wrong.append("complete, but something is missing")
        if silent:
            said = "complete" if complete else "incomplete elsewhere"
            wrong.append(f"{len(silent)} acknowledged are not found ({said}): {silent[:3]}")
        if wrong:
            wrong.append(phase)
        return lacking, "; ".join(wrong)
