"""Who becomes interested in the middle of a run is told of what lives, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim import Overlay
from sim.scenario import run
from sim.scenarios import SCENARIOS

CALM = replace(SCENARIOS["calm"], storm_s=12.0)


def show_what_was_deleted(overlay: Overlay) -> None:
    """The peers note a delete, and go on showing the record."""
    for peer in overlay.peers:
        peer.core.shelf.store.tombstone = lambda *_: None  # type: ignore[method-assign]


def let_nothing_expire(overlay: Overlay) -> None:
    """The peers take every time to live for endless."""
    for peer in overlay.peers:
        peer.core.shelf._expires_s = lambda _: 1e6  # type: ignore[method-assign, assignment]


def test_interests_are_opened_all_along() -> None:
    report = run(CALM, 1)
    assert not report.violations, report.text()
    assert report.counts["notify_data"] > 4


@pytest.mark.parametrize(
    ("plant", "checker"), [(show_what_was_deleted, "deletion"), (let_nothing_expire, "lifetimes")]
)
def test_who_is_told_of_what_is_over_fails_the_run(plant: object, checker: str) -> None:
    assert callable(plant)
    report = run(CALM, 1, sabotage=lambda overlay: overlay.kernel.call_later(1.0, plant, overlay))
    told = [text for text in report.violations if text.startswith(f"{checker}: later")]
    assert told, report.text()
