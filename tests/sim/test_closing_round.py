"""A ring that looks healed and does not work is found out; and where nothing goes wrong, nothing
that clients ask may fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chord import Fault
from meteor.copies.witnesses import Witnesses
from meteor.keeping.views import Views
from meteor.wire.messages import Amend, Post
from sim import Overlay, closing_round
from sim.places import SPACE
from sim.scenario import run
from sim.scenarios import SCENARIOS

HEALED_S = 20.0
"""When the scenarios below have healed, and their watchers were told of all."""


def never_at(kind: type, wanted: Callable[[Any], bool]) -> Callable[[Overlay], None]:
    """Let one peer refuse what is wanted of it by clients."""

    def plant(overlay: Overlay) -> None:
        handlers = overlay.living[-1].core._handlers
        handle = handlers[kind]

        def refuse(sender: Any, message: Any, remaining_s: float) -> object:
            if wanted(message):
                raise Fault("Planted", "by a test")
            return handle(sender, message, remaining_s)

        handlers[kind] = refuse

    return plant


def after(seconds: float, plant: Callable[[Overlay], None]) -> Callable[[Overlay], None]:
    return lambda overlay: overlay.kernel.call_later(seconds, plant, overlay)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (Post, lambda post: post.stem.startswith("closing")),
        (Amend, lambda amend: amend.verb == "renew"),
        (Amend, lambda amend: amend.verb == "cancel"),
    ],
)
def test_a_peer_that_refuses_when_all_has_healed_fails_the_run(
    kind: type, wanted: Callable[[Any], bool]
) -> None:
    scenario = replace(SCENARIOS["growth"], storm_s=3.0)
    report = run(scenario, 1, sabotage=after(HEALED_S - 3.0, never_at(kind, wanted)))
    (text,) = report.violations
    assert text.startswith("closing round: by ")


@pytest.mark.parametrize(
    ("peers", "is_wounded", "fails"),
    [(2, True, False), (2, False, True), (3, True, True)],
    ids=["too few, and lost", "nothing lost", "enough"],
)
def test_only_where_something_was_lost_and_too_few_are_left_may_a_store_wait(
    peers: int, is_wounded: bool, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`meteor-sim scenario few-peers --seed 570`, 680 and 690 end with two peers of eight."""
    monkeypatch.setattr(Witnesses, "too_few", lambda *_: True)
    monkeypatch.setattr(Views, "end_company", lambda _: None)
    overlay = Overlay(peers=peers, space=SPACE, seed=5)
    for peer in overlay.peers:
        peer.core.views.company = 3
    wounds = ((0, SPACE.curve.size),) if is_wounded else ()
    assert bool(closing_round.violations(overlay, wounds)) is fails


def test_a_refused_store_where_nothing_goes_wrong_fails_the_run() -> None:
    scenario = replace(SCENARIOS["calm"], storm_s=3.0)

    def plant(overlay: Overlay) -> None:
        handlers = overlay.peers[0].core._handlers
        handle = handlers[Post]

        def refuse(sender: Any, message: Any, remaining_s: float) -> object:
            if message.stem == "w5":
                raise Fault("Planted", "by a test")
            return handle(sender, message, remaining_s)

        handlers[Post] = refuse

    report = run(scenario, 1, sabotage=plant)
    assert report.violations, "a store was refused, and nobody said so"
