"""Named scenarios over many seeds, and that a fault planted in a peer fails them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chord import Contact
from chord.successor_list import SuccessorList
from meteor.client.shortcuts import Shortcuts
from meteor.wire.codec import wire_codec
from sim import Overlay
from sim.places import SPACE
from sim.report import Report
from sim.ring_scenario import RingScenario
from sim.scenario import Scenario, run
from sim.scenarios import SCENARIOS

LONG = {"storm", "ring-that-loses-nothing"}
SHORT = sorted(SCENARIOS.keys() - LONG)
STRAIGHT = ["sensors", "sensors-apart"]
LOSES_NOTHING = SCENARIOS["ring-that-loses-nothing"]


def checked(scenario: Scenario, seed: int) -> Report:
    print(f"meteor-sim scenario {scenario.name} --seed {seed}")
    report = run(scenario, seed, codec=wire_codec())
    assert not report.violations, report.text()
    return report


def assert_what_was_promised_holds(name: str, storm_s: float) -> None:
    report = checked(replace(SCENARIOS[name], storm_s=storm_s), 1)
    assert report.events > 25
    assert report.ideal_after_s is not None


@pytest.mark.parametrize("name", [name for name in SHORT if name not in STRAIGHT])
def test_what_was_promised_holds(name: str) -> None:
    """Of those that are left out, the test below that counts who was asked."""
    assert_what_was_promised_holds(name, 4.0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "seed"),
    # A store, and a write to a copy, lay before a held peer: what had run out came back.
    # What the last ones told clients as all fell was unknown to those that were back first.
    [
        ("long-pauses", 9),
        ("moving-apart", 42),
    ],
)
def test_what_a_seed_found_stays_mended(name: str, seed: int) -> None:
    checked(SCENARIOS[name], seed)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        # As those above.
        ("long-pauses", 3),
        ("long-pauses", 8),
        ("falls", 8),
        ("falls", 62),
        # A later view had what came while the past was lost, and its deletes.
        ("falls", 104),
        # A damaged copy that was back made a loss good, for the checker.
        ("few-peers", 20),
        # A delete that lay before a held peer took what was stored after it was answered.
        ("few-peers", 49),
        # Who had said what it held, and left, was waited for.
        ("few-peers", 200),
        # What left its place as it was merged showed there again.
        ("few-peers", 313),
        ("few-peers", 570),
        ("few-peers", 680),
        ("few-peers", 690),
        # What a peer had had itself, as others named it, it forgot as it took over.
        ("moving-apart", 54),
    ],
)
def test_what_a_later_seed_found_stays_mended(name: str, seed: int) -> None:
    """Of each there is a test of its own, too: a course of events lasts no longer than the code."""
    checked(SCENARIOS[name], seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", [13, 35, 38, 45, 51, 73, 78, 83, 101, *range(14, 31)])
def test_a_ring_that_fell_answers_for_everything_once_more(seed: int) -> None:
    """The first of these seeds found what the two tests above have three of."""
    checked(SCENARIOS["falls"], seed)


def _more(seeds: range) -> list[Any]:
    """The first by default: of the others a longer storm has its own two hundred below."""
    return [*seeds[:1], *(pytest.param(seed, marks=pytest.mark.long) for seed in seeds[1:])]


@pytest.mark.parametrize("seed", _more(range(1, 11)))
def test_nothing_is_lost_while_one_copy_lives(seed: int) -> None:
    report = checked(replace(LOSES_NOTHING, storm_s=2.5), seed)
    assert report.counts["crashes"] > 5
    assert report.counts["lost: every copy down"] == 0


FEW_EVENTS = {15: 45.0, 46: 45.0, 98: 45.0, 182: 45.0, 187: 45.0}
"""The storm of a seed that draws too few, events or crashes among them, in the usual time."""


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 201))
def test_nothing_is_lost_in_2000_events(seed: int) -> None:
    storm_s = FEW_EVENTS.get(seed, LOSES_NOTHING.storm_s)
    report = run(replace(LOSES_NOTHING, storm_s=storm_s), seed)
    assert not report.violations, report.text()
    assert report.events >= 2000
    assert report.counts["joins"] >= report.events / 10
    assert report.counts["crashes"] >= report.events / 10
    assert report.counts["lost: every copy down"] == 0


@pytest.mark.long
@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("seed", range(1, 11))
def test_what_was_promised_holds_for_more_seeds(name: str, seed: int) -> None:
    checked(SCENARIOS[name], seed)


@pytest.mark.parametrize(
    "name", [STRAIGHT[0], *(pytest.param(one, marks=pytest.mark.long) for one in STRAIGHT[1:])]
)
def test_sensors_go_straight_to_owners(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else these scenarios would look at nothing that the others do not."""
    went, began = list[Contact](), Shortcuts.began

    def counted(self: Shortcuts, owner: Contact, token: int) -> None:
        went.append(owner)
        began(self, owner, token)

    monkeypatch.setattr(Shortcuts, "began", counted)
    assert_what_was_promised_holds(name, 6.0)
    assert len(went) > 20
    assert len(set(went)) > 1


def test_one_seed_is_one_run() -> None:
    scenario = replace(SCENARIOS["crashes"], storm_s=1.5)
    first, second = run(scenario, 5), run(scenario, 5)
    assert first == second
    assert first.digest != run(scenario, 6).digest
    assert first.replay == "replace(sim.SCENARIOS['crashes'], storm_s=1.5).play(5)"


def after(seconds: float, plant: Callable[[Overlay], None]) -> Callable[[Overlay], None]:
    return lambda overlay: overlay.kernel.call_later(seconds, plant, overlay)


def drop_records(overlay: Overlay) -> None:
    """A peer forgets ten records, and says nothing."""
    peer = max(overlay.peers, key=lambda one: one.core.state().data)
    store = peer.core.shelf.store
    for record in [one for one in store.records() if one.kind == "data"][:10]:
        store.remove(record.owner, record.stem)


def hold_too_much(overlay: Overlay) -> None:
    """A peer answers for the whole curve."""
    overlay.peers[5].core.holdings.gain(((0, SPACE.curve.size - 1),))


def lose_the_ring(overlay: Overlay) -> None:
    """A peer keeps no ring any more, and hears nobody who does."""
    peer = overlay.peers[5]
    peer.core.node.stop()
    for kind in list(peer.core.node.handlers):
        peer.core._handlers[kind] = lambda *_: None
    peer.core.node.install(None, ())


def own_what_another_owns(overlay: Overlay) -> None:
    """A peer takes another's view for its own, epoch and all."""
    (number, view), *_ = overlay.peers[3].core.views.own.items()
    overlay.peers[5].core.views.own[number] = view


def show_what_was_deleted(overlay: Overlay) -> None:
    """The peers note a delete, and go on showing the record."""
    for peer in overlay.peers:
        store = peer.core.shelf.store

        def bury_nothing(*_: object) -> None:
            return None

        store.tombstone = bury_nothing  # type: ignore[method-assign]


def let_nothing_expire(overlay: Overlay) -> None:
    """The peers take every time to live for endless."""
    for peer in overlay.peers:
        peer.core.shelf._expires_s = lambda _: 1e6  # type: ignore[method-assign]


def tell_nobody(overlay: Overlay) -> None:
    """The peers find pairs, and keep them to themselves."""
    for peer in overlay.peers:
        peer.core.telling.tell = lambda _: None  # type: ignore[method-assign]


def raise_in_a_handler(overlay: Overlay) -> None:
    """A bug."""
    peer = overlay.peers[5]

    def fail(*_: object) -> object:
        raise ZeroDivisionError("a bug in a handler")

    for kind in list(peer.core._handlers):
        peer.core._handlers[kind] = fail


def log_an_error(_: Overlay) -> None:
    """Something says that it is wrong."""
    logging.getLogger("meteor.anything").error("this cannot be")


@pytest.mark.parametrize(
    ("plant", "named"),
    [
        (drop_records, {"recall", "durability"}),
        (hold_too_much, {"both hold"}),
        pytest.param(lose_the_ring, {"5 s after healing"}, marks=pytest.mark.long),
        (own_what_another_owns, {"ownership: epoch"}),
        (show_what_was_deleted, {"deletion"}),
        (let_nothing_expire, {"lifetimes"}),
        (tell_nobody, {"notification"}),
        (raise_in_a_handler, {"ZeroDivisionError: a bug in a handler"}),
        (log_an_error, {"logged as ERROR: this cannot be"}),
    ],
)
def test_a_fault_planted_in_a_peer_fails_the_run(
    plant: Callable[[Overlay], None], named: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.scenario.IDEAL_WITHIN_S", 5.0)  # else one fault is waited for for long
    report = run(replace(SCENARIOS["calm"], storm_s=6.0), 1, sabotage=after(3.0, plant))
    assert all(any(name in text for text in report.violations) for name in named), report.text()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_storm_of_everything_at_once(seed: int) -> None:
    report = checked(SCENARIOS["storm"], seed)
    assert report.events >= 2000


@pytest.mark.parametrize("seed", [1, 2])
def test_the_invariant_of_the_ring_holds(seed: int) -> None:
    report, _ = RingScenario(events=60).play(seed)
    assert not report.violations, report.text()
    assert report.counts["crashes"] > 3
    assert report.ideal_after_s is not None


def test_a_ring_with_a_careless_list_breaks_the_invariant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that loses a living entry together with the dead one."""
    drop = SuccessorList.drop

    def careless_drop(self: SuccessorList, contact: Contact) -> bool:
        kept = [entry for entry in self.contacts if entry.id != contact.id]
        return self.install(kept[1:]) if len(kept) > 1 else drop(self, contact)

    monkeypatch.setattr(SuccessorList, "drop", careless_drop)
    report, _ = RingScenario(events=60).play(0)
    assert any(text.startswith("zave: ") for text in report.violations)
