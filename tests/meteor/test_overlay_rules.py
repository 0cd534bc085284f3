"""The 37 rules of matching, replayed over an overlay: whichever of the two arrives first.

A row holds at one peer (tests/arms); here it also has to survive routing, storing and telling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meteor import Client, ProfileError, Timeout
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.arms.rules import RULES, RULES_SPACE, Rule


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=16, space=RULES_SPACE, seed=37)


@pytest.fixture(scope="module")
def client(overlay: Overlay) -> Client:
    return overlay.client()


def in_space(text: str, anchor: str) -> str:
    """The profile with one declared word added, so that it has a place in the space; a selector
    that names no dimension would go everywhere, a subject has to name one."""
    grouped = f"({text})" if "|" in text or "," in text else text
    return f"word={anchor} {grouped}"


ROWS = [rule for rule in RULES if "word" not in rule.selector + rule.subject]


@pytest.mark.parametrize(
    ("at", "rule"), list(enumerate(ROWS)), ids=[f"rule {r.number}: {r.selector}" for r in ROWS]
)
def test_rule_over_an_overlay(overlay: Overlay, client: Client, at: int, rule: Rule) -> None:
    run: Callable[[Any], Any] = overlay.run
    anchor = f"anchor{at:04d}"
    selector, subject = in_space(rule.selector, anchor), in_space(rule.subject, anchor)
    before = run(client.notify_data(selector))
    try:
        receipt = run(client.store(subject, b"x"))
    except ProfileError:
        pytest.fail(f"{subject} was refused")
    found = [match.id for match in run(client.retrieve(selector).all())]
    after = run(client.notify_data(selector))
    assert found == ([receipt.id] if rule.expected else [])
    for interest in (before, after):
        if rule.expected:
            assert run(interest.recv(timeout=1)).id == receipt.id
        else:
            with pytest.raises(Timeout):
                run(interest.recv(timeout=0.2))
    for posted in (before.id, after.id, receipt.id):
        run(client.cancel(posted))
