"""No post costs much to decide, however its policy was written: steps and lines of Python are
counted; `tests/benchmarks/bench_hostile.py` has the milliseconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile
from meteor.errors import Refused
from meteor.security.audience import Groups
from meteor.security.deciding import MOST_STEPS, Decider
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy import COST, Policy, Request, Rule
from meteor.security.policy_toml import PolicyError, parse_policy
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, Post
from tests.arms.strategies import SPACE as DRAWN
from tests.arms.strategies import typed_roots
from tests.hostile.doors import SPACE
from tests.hostile.policies import PAIRS, Pair, policy_of, profile_of
from tests.hostile.test_hostile_costs import LINES_MAX, lines_of
from tests.meteor.security.signers import ALICE, BOB

LONG = {"fifty that hold and one that does not", "sixty words of sixty", "sixty words"}
"""Seconds each, as what they cost is counted line by line."""


@pytest.mark.parametrize(
    "is_subject",
    [pytest.param(True, id="content"), pytest.param(False, id="interest", marks=pytest.mark.long)],
)
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.long] if one.name in LONG else [])
        for one in PAIRS
    ],
)
def test_what_a_decision_costs(
    pair: Pair, is_subject: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is decided is what a plain walk says; under a simple policy everything is decided."""
    policy, profile = policy_of(pair), profile_of(pair)
    decider = Decider(policy)
    request = Request("", "retrieve", profile, is_subject)
    lines = lines_of(lambda: decider.decide(request))
    weighing = decider.weighing(profile, is_subject=is_subject)
    verdict = decider.decide(request, weighing)
    with capsys.disabled():
        steps = MOST_STEPS - weighing.budget.left
        print(f"\n{pair.name}: {verdict.rule}, {steps:,} steps, {lines:,} lines of Python", end="")
    assert lines <= 0.75 * LINES_MAX  # the rest is for what else becomes of a post
    assert weighing.budget.left > -100
    if verdict.rule == COST:
        assert not pair.is_simple
        assert not verdict.allows
    else:
        assert verdict == policy.decide(request)


def test_doubt_denies_is_said_and_counted() -> None:
    pair = next(one for one in PAIRS if one.name == "one of 63 by eight")
    policy = Policy(allows_by_default=True, rules=policy_of(pair).rules)
    gatekeeper = Gatekeeper(SPACE, lambda: 0.0, policy)

    def ask(profile: Profile) -> None:
        document = Document("retrieve", pack_profile(profile))
        gatekeeper.admit_post(Post(0, encode_document(document), "a", 1, 1.0, 1.0), document, 0.0)

    with pytest.raises(Refused, match=r"too many steps .* doubt denies; .* fewer") as refused:
        ask(profile_of(pair))
    assert refused.value.rule == COST
    assert gatekeeper.denials == {COST: 1}
    ask(Profile.parse("word=a0 | word=a8", SPACE))
    assert gatekeeper.denials.total() == 1


def test_no_rule_has_the_name_of_what_needs_none() -> None:
    text = 'default = "deny"\n[[rules]]\nname = "cost"\nwho = ["anyone"]\n'
    with pytest.raises(PolicyError, match="needs no rule"):
        parse_policy(text)


A, B = ALICE.key, BOB.key
GROUPS: Groups = {"one": frozenset({A}), "both": frozenset({A, B}), "none": frozenset()}
WHO = ("anyone", "signed", "unsigned", A, B, "group:one", "group:both", "group:none", "group:no")
ACTIONS = ("store", "retrieve", "renew", "forget")


@st.composite
def drawn_rules(draw: st.DrawFn) -> tuple[Rule, ...]:
    def rule(at: int) -> Rule:
        selector = draw(st.none() | typed_roots())
        return Rule(
            f"r{at}",
            draw(st.booleans()),
            tuple(draw(st.lists(st.sampled_from(WHO), min_size=1, max_size=2))),
            draw(st.frozensets(st.sampled_from(ACTIONS), max_size=2)),
            None if selector is None else Profile.from_element(selector, DRAWN),
            draw(st.sampled_from(((), (("floor", frozenset({"1", "2"})),)))),
        )

    return tuple(rule(at) for at in range(draw(st.integers(0, 6))))


@given(drawn_rules(), st.booleans(), st.data())
def test_it_decides_as_a_walk_from_rule_to_rule_does(
    rules: tuple[Rule, ...], default: bool, data: st.DataObject
) -> None:
    policy = Policy(default, rules, groups=GROUPS)
    decider = Decider(policy)
    is_subject = data.draw(st.booleans())
    root = data.draw(st.none() | typed_roots(selector=not is_subject))
    profile = None if root is None else Profile.from_element(root, DRAWN)
    request = Request(
        data.draw(st.sampled_from(("", A, B))),
        data.draw(st.sampled_from(ACTIONS)),
        profile,
        is_subject,
        data.draw(st.sampled_from(({}, {"floor": "1"}, {"floor": "3"}))),
    )
    assert decider.decide(request) == policy.decide(request)
