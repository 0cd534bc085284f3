"""What an heir decides where a copy has a view whole that never began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.takeover import Asked, Step, plan
from meteor.wire.operations import HeardOf
from meteor.wire.view import Ended, View

PIECE = (0, 9)
PEERS = [Contact(n, f"peer-{n}") for n in range(8)]
PRIMARY, BOTH, OTHER, HEIR, EVICTED = PEERS[:5]

BEGAN = View(PRIMARY, 2, 5, (PIECE,), (BOTH, OTHER))
"""Its primary evicted a copy in this epoch."""
FENCE = View(HEIR, 8, 8, (PIECE,), (EVICTED, BOTH))
"""By which an heir took over what it knew of: the one before.  The evicted copy refused it."""
HEARD: dict[Contact, Sequence[HeardOf]] = {
    one: [(8, (PIECE,))] for one in (PRIMARY, BOTH, HEIR, EVICTED)
}


def fenced(*had: Ended) -> list[Evidence]:
    return [
        Evidence(PRIMARY, BEGAN, fresh=False),
        Evidence(OTHER, BEGAN, fresh=True),
        Evidence(BOTH, FENCE, fresh=True, taken_in=had),
        Evidence(HEIR, FENCE, fresh=False, damaged=True),
    ]


def decided(evidence: Sequence[Evidence], asked: Asked) -> Step:
    (step,) = plan((PIECE,), evidence, asked, orphaned=False)
    return step


@pytest.mark.parametrize("patient", [False, True])
def test_a_fence_that_never_began_hides_nothing_of_what_it_was_to_take_over(patient: bool) -> None:
    """Its heir says so itself; all others answer, and have everything (moving-apart, seed 99)."""
    evidence = fenced(Ended(PRIMARY.id, 5, (PIECE,)))
    asked = Asked(PEERS[:5], [], patient, begun=[BEGAN], heard=HEARD)
    assert decided(evidence, asked).kind == ("lost" if patient else "wait")
    step = decided(evidence, replace(asked, given_up={(FENCE.key, 8)}))
    assert (step.kind, step.view, set(step.sources)) == ("adopt", BEGAN, {OTHER, BOTH})


def test_who_took_a_fence_that_never_began_is_enough_beside_the_primary() -> None:
    """The other copy is cut off since (moving-apart, seed 99, when patience ended)."""
    evidence = [one for one in fenced(Ended(PRIMARY.id, 5, (PIECE,))) if one.contact != OTHER]
    answered = [PRIMARY, BOTH, HEIR, EVICTED]
    asked = Asked(answered, [], True, everybody=False, begun=[BEGAN], heard=HEARD)
    step = decided(evidence, replace(asked, given_up={(FENCE.key, 8)}))
    assert (step.kind, step.view, step.sources) == ("adopt", BEGAN, (BOTH,))


@pytest.mark.parametrize("had", [(), (Ended(6, 4, (PIECE,)),), (Ended(0, 5, (PIECE,), 5),)])
def test_who_took_a_fence_and_cannot_show_what_it_had_speaks_for_nothing_else(
    had: tuple[Ended, ...],
) -> None:
    asked = Asked(PEERS[:5], [], True, begun=[BEGAN], heard=HEARD, given_up={(FENCE.key, 8)})
    assert decided(fenced(*had), asked).kind == "lost"


def test_nothing_that_an_heir_began_after_its_fence_is_passed_over() -> None:
    later = View(HEIR, 9, 9, (PIECE,), (EVICTED,))
    evidence = fenced(Ended(PRIMARY.id, 5, (PIECE,)))
    asked = Asked(PEERS[:5], [], True, begun=[later], heard=HEARD, given_up={(FENCE.key, 8)})
    assert decided(evidence, asked).kind == "lost"


NEXT = replace(BEGAN, epoch=9, copies=(BOTH, OTHER, EVICTED))
"""One copy more; only that one noted it, as the others went over to an heir."""
OVER = View(OTHER, 7, 8, (PIECE,), (BOTH, HEIR))
"""The heir's, that began, and gave up as it heard of the next epoch of the other view."""


def passed_over(*had: Ended) -> list[Evidence]:
    return [
        Evidence(PRIMARY, BEGAN, fresh=False),
        Evidence(EVICTED, NEXT, fresh=True),
        Evidence(BOTH, OVER, fresh=True, taken_in=had),
        Evidence(HEIR, OVER, fresh=True, taken_in=had),
        Evidence(OTHER, OVER, fresh=False),
    ]


def test_a_next_epoch_that_was_passed_over_hides_nothing_of_what_passed_it_over() -> None:
    """Nobody crashed, and a record that was acknowledged was lost (moving-apart, seed 40)."""
    heard = {one: [(9, (PIECE,))] for one in PEERS[:5]}
    asked = Asked(PEERS[:5], [], True, begun=[OVER], heard=heard)
    evidence = passed_over(Ended(PRIMARY.id, 5, (PIECE,)))
    assert decided(evidence, asked).kind == "lost"
    asked = replace(asked, passed_over={(NEXT.key, 9)})
    step = decided(evidence, asked)
    assert (step.kind, step.view, step.sources) == ("adopt", OVER, (BOTH, HEIR))
    assert decided(passed_over(), asked).kind == "lost"  # it may lack what that primary had
    assert decided(evidence, replace(asked, begun=[])).kind == "lost"  # nobody knows it began
