"""Traps that overlays of this kind are known to fall into, one test each, in seeded virtual time.

A peer that is asked for an arc that it does not hold must never answer "nothing found"; a re-dial
must not turn a routed request into a local one; a collector pause or a late loop must not make
living peers look dead (also in `test_copies`); two peers must never be primary in one epoch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arms import Profile
from chord import CallError, Contact, replace
from meteor import MeteorError, profile
from meteor.wire import codec
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import FoundPage, Operation
from sim.overlay import Overlay, SimPeer
from sim.runtime import SimRuntime
from squid import HandOn, covers
from squid.messages import Report, ResultFrame
from tests.meteor.building import SPACE, draw_data
from tests.meteor.copies_world import (
    SIZE,
    ask,
    assert_never_silently_partial,
    assert_whole_within,
    build,
    client_away_from,
    copies_of,
    crash,
    index_of,
    primary_of,
    seeds,
    store_some,
    view_of,
)
from tests.meteor.test_lease import Doubting

QUESTION = encode_document(Document("retrieve", pack_profile(Profile.parse("type=*", SPACE))))
BODY = Operation("retrieve", "question", 1, "", 0, QUESTION)
ELSEWHERE = Contact(5, "10.9.9.8:1")

# -- an arc that is not held


class Asker:
    """Sends a question to one peer, past all routing, and collects what anybody says to it."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.contact = Contact(99, "10.9.9.9:1")
        self.runtime = SimRuntime(overlay.kernel, overlay.network, self.contact)
        self.reports: list[Report] = []
        self.found: dict[bytes, set[str]] = {}
        self.runtime.serve(self._handle, lambda _: None)
        self._asked = 0

    def _handle(self, _: Contact, message: object, __: float) -> None:
        if isinstance(message, Report):
            self.reports.append(message)
        elif isinstance(message, ResultFrame):
            page = codec.decode(message.body)
            assert isinstance(page, FoundPage)
            self.found.setdefault(message.operation, set()).update(one.id for one in page.found)

    def ask(
        self, peer: SimPeer, index: int, body: Operation = BODY, *, stands_in: bool = False
    ) -> tuple[set[str], bool]:
        """What is found at an index, and whether anybody says that this is all; a peer that
        `stands_in` is asked as one who keeps a copy."""
        self._asked += 1
        operation = self._asked.to_bytes(16, "big")
        cell = SPACE.curve.decode(index)
        share = HandOn(
            operation, 0, self.contact, SPACE.digest, cell, cell, ((index, index),), 0, 5000,
            codec.encode(body), asks=stands_in, stands_in=stands_in,
        )  # fmt: skip
        self.overlay.run(self._call(peer.contact, share))
        self.overlay.run_for(6.0)
        mine = [one for one in self.reports if one.operation == operation]
        said_all = any(
            covers(one.covered, index) and not covers(one.missing, index) for one in mine
        )
        return self.found.get(operation, set()), said_all

    async def _call(self, target: Contact, share: HandOn) -> None:
        try:
            await self.runtime.call(target, share, 5.0)
        except CallError as error:
            print(f"{target}: {error}")


@pytest.mark.parametrize("seed", seeds(2))
def test_who_does_not_hold_an_arc_never_says_that_nothing_is_there(seed: int) -> None:
    """Asked past all routing: who never had it, who gave it away, who was restarted, who joins."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 10)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    before = primary_of(overlay, probe)
    before.crash()
    overlay.run_for(drawn.choice([0.0, 3.0]))
    asker = Asker(overlay)
    again = overlay.run(overlay.restart(before))
    joiner = overlay.run(overlay.add_peer())
    index = index_of(probe)
    here = {one for one in stored if index_of(one) == index}
    for peer in (again, joiner, *overlay.living):
        found, said_all = asker.ask(peer, index)
        assert here <= found or not said_all, f"{peer.address} said that nothing is there"
    assert said_all


@pytest.mark.parametrize("seed", seeds(2))
def test_an_arc_that_is_being_taken_over_is_never_empty(seed: int) -> None:
    """Asked again and again while both neighbours of a crash look for its content."""
    overlay, drawn = build(seed, 9), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 15)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client = client_away_from(overlay, probe)
    holders = view_of(overlay, probe).holder_ids
    fallen = [peer for peer in overlay.living if peer.contact.id in holders]
    crash(*fallen[: drawn.choice([1, 2, 3])])
    for _ in range(30):
        assert_never_silently_partial(overlay, client, stored)
        overlay.run_for(0.1)


def with_probe(seed: int, peers: int = 8) -> tuple[Overlay, str, Asker]:
    """A whole ring at rest, one of the records in it, and somebody who asks past all routing."""
    overlay, drawn = build(seed, peers, disk_s=0.001), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 10)
    assert_whole_within(overlay)
    overlay.run_for(1.0)
    return overlay, drawn.choice(stored), Asker(overlay)


def heir_of_lost(overlay: Overlay, probe: str) -> SimPeer:
    """All who have a record fall; who answers for its place then, with copies of that nothing."""
    holders = view_of(overlay, probe).holder_ids
    crash(*(peer for peer in overlay.living if peer.contact.id in holders))
    overlay.run_for(12.0)
    heir = primary_of(overlay, probe)
    assert covers(heir.core.holdings.lost, index_of(probe))
    assert copies_of(overlay, probe)
    return heir


def test_what_goes_away_while_a_question_waits_is_not_answered_for() -> None:
    """It was held when the question came, and a hand-off ended while its holder made sure of its
    epoch."""
    overlay, probe, asker = with_probe(1)
    index, peer = index_of(probe), primary_of(overlay, probe)
    lease, shelf = peer.core._lease, peer.core.shelf
    gone: list[object] = []

    async def given_meanwhile(part: object) -> None:
        if not gone:
            peer.core.holdings.give(((index, index),), ELSEWHERE)
            gone.extend(shelf.forget_outside(peer.core.holdings.held))

    lease.in_touch = lambda part: False  # type: ignore[method-assign]
    lease.confirm = given_meanwhile  # type: ignore[method-assign]
    found, said_all = asker.ask(peer, index)
    assert gone
    assert probe in found or not said_all


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        Operation("perform", "question", 1, "", 0, QUESTION, dry_run=True),
        Operation("find", "", 1, "", 0),
    ],
    ids=["retrieve", "who would run it", "find"],
)
def test_whatever_is_asked_of_an_arc_whose_past_is_lost_it_is_named(body: Operation) -> None:
    overlay, probe, asker = with_probe(1)
    heir = heir_of_lost(overlay, probe)
    if body.verb == "find":
        body = replace(body, id=probe)
    found, said_all = asker.ask(heir, index_of(probe), body)
    assert not found
    assert not said_all
    named = [one for one in asker.reports if covers(one.missing, index_of(probe))]
    assert named, "it was not asked at all"


def test_a_copy_of_what_is_lost_names_that_as_well() -> None:
    """It stands in for a silent heir, and has a whole copy: of what that one has."""
    overlay, probe, asker = with_probe(1)
    heir = heir_of_lost(overlay, probe)
    copy, *_ = copies_of(overlay, probe)
    heir.pause()
    found, said_all = asker.ask(copy, index_of(probe), stands_in=True)
    assert not found
    assert not said_all
    assert any(covers(one.missing, index_of(probe)) for one in asker.reports)


def test_a_copy_that_was_passed_over_does_not_stand_in() -> None:
    """It is cut off from the other holders, who evicted it, and took in more since."""
    overlay, probe, asker = with_probe(1)
    index, copy = index_of(probe), copies_of(overlay, probe)[0]
    client = client_away_from(overlay, probe)
    others = view_of(overlay, probe).holder_ids - {copy.contact.id}
    cut = overlay.faults.partition([copy.contact], [peer.contact for peer in overlay.living
                                                    if peer.contact.id in others])  # fmt: skip
    overlay.run(client.cancel(probe))
    assert not view_of(overlay, probe).has_copy(copy.contact.id)
    assert covers(copy.core.views.copied(), index), "it was told"
    _, said_all = asker.ask(copy, index, stands_in=True)
    assert not said_all
    cut.heal()


def test_a_copy_that_ends_while_it_makes_sure_does_not_stand_in() -> None:
    overlay, probe, asker = with_probe(1)
    index, copy = index_of(probe), copies_of(overlay, probe)[0]
    views, primary = copy.core.views, primary_of(overlay, probe)

    async def ended_meanwhile(part: object) -> list[object]:
        for key in [key for key, one in views.copies.items() if covers(one.view.intervals, index)]:
            views.drop(key)
        return []

    primary.pause()
    copy.core._lease.unconfirmed = ended_meanwhile  # type: ignore[method-assign,assignment]
    copy.core.shelf.forget_outside(())
    found, said_all = asker.ask(copy, index, stands_in=True)
    assert not covers(views.copied(), index)
    assert probe in found or not said_all


def test_a_primary_that_was_passed_over_asks_before_it_says_that_nothing_is_there() -> None:
    """It heard of none of its copies for longer than a lease; they know who has it meanwhile."""
    world = Doubting(1)
    for one in world.copies:
        one.core.views.end(world.later())
        one.core.views.remember(world.later())
    asker = Asker(world.overlay)
    _, said_all = asker.ask(world.primary, world.ended[0][0])
    assert not said_all


# -- re-dials


def cut_a_link(drawn: random.Random, peer: SimPeer) -> None:
    """Both ends lose it; both peers live, and dial again."""
    ends = [end for end in peer.runtime.ends if end.other is not None]
    if ends:
        end = drawn.choice(ends)
        other = end.other
        assert other is not None
        end.owner.lose(end, "cut")
        other.owner.lose(other, "cut")


@pytest.mark.parametrize("seed", seeds(2))
def test_a_redial_does_not_turn_a_routed_request_into_a_local_one(seed: int) -> None:
    """Links break in the middle of questions and stores; what was under way is sent again, and is
    answered for the same part of the curve by whoever holds it."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 10)
    assert_whole_within(overlay)
    clients = [overlay.client(peer=number) for number in range(3)]

    async def cut() -> None:
        while True:
            await overlay.kernel.sleep(drawn.uniform(0.0, 0.004))
            cut_a_link(drawn, drawn.choice(overlay.living))

    cutting = overlay.kernel.spawn(cut())
    may: list[str] = []
    for step in range(25):
        client = drawn.choice(clients)
        stem = f"step-{step}"
        may.append(stem)
        try:
            receipt = overlay.run(client.store(profile(draw_data(drawn)), b"x", id=stem, timeout=3))
        except MeteorError:
            overlay.run_for(0.5)
        else:
            may.remove(stem)
            stored.append(receipt.id)
        answer = client.retrieve("type=*", everywhere=True, allow_partial=True, timeout=3)
        try:
            found = {match.id for match in overlay.run(answer.all())}
        except MeteorError:
            continue
        absent = [one for one in stored if one not in found]
        assert all(covers(answer.missing, index_of(one)) for one in absent), "silently absent"
        assert {one.partition(".")[0] for one in found - set(stored)} <= set(may)
    cutting.cancel()
    assert_whole_within(overlay, 30)
    found, complete = ask(overlay, clients[0])
    assert complete
    assert set(stored) <= found


@pytest.mark.parametrize("seed", seeds(2))
def test_nobody_answers_for_who_listened_at_its_address_before(seed: int) -> None:
    """A peer comes back under another identifier: what is sent to the one of before is refused."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 12)
    assert_whole_within(overlay)
    probe = drawn.choice(stored)
    client, moved = client_away_from(overlay, probe), primary_of(overlay, probe)
    task = overlay.kernel.spawn(overlay.move(moved, drawn.getrandbits(160)))
    while not task.done():
        assert_never_silently_partial(overlay, client, stored)
    for _ in range(5):
        assert_never_silently_partial(overlay, client, stored)
    asker = Asker(overlay)
    found, said_all = asker.ask(moved, index_of(probe))
    assert not found
    assert not said_all
    assert_whole_within(overlay)
    assert ask(overlay, client) == (set(stored), True)


# -- epochs


@contextmanager
def epochs_watched(overlay: Overlay, marks: int = 48) -> Iterator[dict[int, list[int]]]:
    """Looks at some indexes whenever everything of an instant has happened; yields the epochs that
    each was held in by peers that could answer, one after the other."""
    indexes = [SIZE * number // marks for number in range(marks)]
    history: dict[int, list[int]] = {index: [] for index in indexes}
    primaries: dict[tuple[int, int], int] = {}

    def look() -> None:
        for peer in overlay.living:
            for view in peer.core.views.own.values():
                for index in indexes:
                    if covers(view.intervals, index):
                        first = primaries.setdefault((index, view.epoch), peer.contact.id)
                        assert first == peer.contact.id, f"two primaries of {index} in one epoch"
                        if view.epoch not in history[index]:
                            history[index].append(view.epoch)

    overlay.kernel.watch(look)
    yield history


@pytest.mark.parametrize("seed", seeds(1))
def test_epochs_grow_along_succession_and_no_two_are_primary_in_one(seed: int) -> None:
    """While peers fall, come back, join and leave; nobody is held or cut off, so that whoever
    takes over is right, and later than all before."""
    overlay, drawn = build(seed), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 8)
    assert_whole_within(overlay)
    with epochs_watched(overlay) as history:
        for _ in range(8):
            fallen = [peer for peer in overlay.peers if not peer.alive]
            what = drawn.choice(["crash", "leave", "join", "back"])
            if what == "back" and fallen:
                overlay.run(overlay.restart(drawn.choice(fallen)))
            elif what == "join" or len(overlay.living) < 6:
                overlay.run(overlay.add_peer())
            elif what == "leave":
                overlay.run(drawn.choice(overlay.living[1:]).leave())
            else:
                drawn.choice(overlay.living[1:]).crash()
            overlay.run_for(drawn.uniform(0.0, 1.0))
        assert_whole_within(overlay)
    for index, epochs in history.items():
        assert epochs == sorted(epochs), f"an earlier epoch came back at {index}"
    assert ask(overlay, overlay.client()) == (set(stored), True)
