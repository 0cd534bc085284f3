"""Deciding: what a policy says about one request after the other, for a bounded number of steps.

Law of this file: pure; the verdict is that of `Policy.decide`, which looks at one rule after the
other, or `COST`: whoever asks what takes too long to tell of is refused, as doubt denies.  A rule
is looked at only where its selector can hold; all rules of one decision share one budget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from arms import OverBudget, Profile, SelectorList, Weighing
from chord import dataclass
from meteor.security.audience import ANYONE, GROUP_PREFIX, SIGNED, UNSIGNED
from meteor.security.policy import (
    COST,
    DEFAULT,
    Policy,
    Request,
    Rule,
    Verdict,
    named_keys,
)
from squid import KeywordSpace

MOST_STEPS: Final = 8_000
"""Of all selectors together that one post is held against: half a microsecond to one each."""


class Decider:
    """A policy made ready for many decisions; it is typed."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._listed = SelectorList([rule.selector for rule in policy.rules])
        self._who = [frozenset(rule.who) for rule in policy.rules]
        self._denying = frozenset(at for at, rule in enumerate(policy.rules) if not rule.allows)
        self._groups_of: dict[str, set[str]] = defaultdict(set)
        for name, keys in policy.groups.items():
            for key in keys:
                self._groups_of[key] |= {name, GROUP_PREFIX + name}  # as `includes` has it

    def taken_apart(self) -> Iterator[None]:
        """As of `SelectorList`."""
        yield from self._listed.taken_apart()
        while self._groups_of:
            self._groups_of.popitem()
            yield

    def weighing(self, profile: Profile, *, is_subject: bool) -> Weighing:
        """A profile that is to be decided about, with its steps."""
        return Weighing(profile, self._listed, is_subject=is_subject, most_steps=MOST_STEPS)

    def decide(self, request: Request, weighing: Weighing | None = None) -> Verdict:
        """Whether the request is allowed; `weighing` is that of its profile, where some of its
        steps were taken before."""
        if weighing is None and request.profile is not None:
            weighing = self.weighing(request.profile, is_subject=request.is_subject)
        try:
            return self._first(request, weighing)
        except OverBudget:
            return Verdict(allows=False, rule=COST)

    def _first(self, request: Request, weighing: Weighing | None) -> Verdict:
        names = self._names_of(request.key)
        for at in self._candidates(request, weighing):
            rule = self._policy.rules[at]
            if not self._who[at].isdisjoint(names) and self._speaks(at, rule, request, weighing):
                return Verdict(rule.allows, rule.name)
        return Verdict(self._policy.allows_by_default, DEFAULT)

    def _candidates(self, request: Request, weighing: Weighing | None) -> Iterable[int]:
        """The places of all rules that may speak, in order."""
        if weighing is None:
            return range(len(self._policy.rules))
        found = weighing.that_may_hold
        # Two selectors may select the same although neither names what the other does.
        return sorted(found if request.is_subject else found | self._denying)

    def _speaks(self, at: int, rule: Rule, request: Request, weighing: Weighing | None) -> bool:
        if weighing is None:
            return rule.speaks_of_id(request.action)
        if not rule.speaks_of_post(request):
            return False
        return weighing.lies_within(at) if rule.allows else weighing.is_met_by(at)

    def _names_of(self, key: str) -> frozenset[str]:
        """By which a rule may mean whoever has a key; the empty one is whoever does not sign."""
        if not key:
            return frozenset((ANYONE, UNSIGNED))
        return frozenset((ANYONE, SIGNED, key)).union(self._groups_of.get(key, ()))


@dataclass(frozen=True, slots=True)
class Ready:
    """A policy with all that is made of it: what takes a second where it has 60,000 terms."""

    policy: Policy
    """In the terms of the space."""
    named: frozenset[str]
    """The keys that it speaks of by themselves."""
    decider: Decider


def made_ready(policy: Policy, space: KeywordSpace) -> Ready:
    """Touches nothing that others have, so that any thread may do it; raises `TypeMismatch` and
    `LimitExceeded` for a policy that does not fit the space."""
    typed = policy.typed(space)
    return Ready(typed, named_keys(typed), Decider(typed))


def taken_apart(done_with: list[Ready]) -> Iterator[None]:
    """Let go of what nobody else has any more, a piece a step.  What is let go of in one step,
    Python frees in one step, in which no thread does anything else: 60,000 terms in some 40 ms."""
    ready = done_with.pop()
    rules, decider = [*ready.policy.rules], ready.decider
    del ready
    yield from decider.taken_apart()
    del decider
    while rules:
        rules.pop()
        yield
