"""What a copy believes: messages of strangers, of primaries whose time is over, and nonsense.

A stranger is at the network and says what it likes.  Whatever it says, no peer stops, nothing that
was acknowledged is lost, and no answer is silently partial.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from chord import CallError, Contact, RemoteFault
from meteor.copies.copy_keeper import PART_MAX
from meteor.copies.their_marks import MARKS_MAX
from meteor.keeping.placement import Admission, key_of
from meteor.keeping.views import COPIES_MAX
from meteor.wire import codec
from meteor.wire.copy_messages import (
    MESSAGES,
    Instate,
    Instated,
    Keep,
    Kept,
    Learn,
    Stands,
    Touch,
    Touched,
    Watermarks,
)
from meteor.wire.operations import Carried
from meteor.wire.view import EPOCHS, View
from sim.overlay import Overlay, SimPeer
from sim.runtime import SimRuntime
from squid import intersect, subtract
from tests.meteor.copies_world import (
    EVERYTHING,
    SIZE,
    ask,
    assert_whole_within,
    build,
    copies_of,
    index_of,
    primary_of,
    seeds,
    store_some,
    view_of,
)

HUGE = 1 << 200
STRANGER = Contact(99, "10.9.9.9:1")


class Stranger:
    """Says what it likes, and remembers what it is told."""

    def __init__(self, overlay: Overlay, contact: Contact = STRANGER) -> None:
        self.overlay, self.contact = overlay, contact
        self.runtime = SimRuntime(overlay.kernel, overlay.network, contact)
        self.heard: list[object] = []
        self.runtime.serve(self._handle, lambda _: None)

    def _handle(self, _: Contact, message: object, __: float) -> object:
        self.heard.append(message)
        return Instated()

    def view(self, intervals: tuple[tuple[int, int], ...], epoch: int, **changes: Any) -> View:
        return replace(View(self.contact, 7, epoch, intervals, ()), **changes)

    def ask(self, peer: SimPeer, request: object) -> Any:
        """The reply, or the error."""
        return self.overlay.run(self._call(peer.contact, request))

    async def _call(self, target: Contact, request: object) -> object:
        try:
            return await self.runtime.call(target, request, 6.0)
        except CallError as error:
            return error


@pytest.fixture
def world() -> tuple[Overlay, Stranger, list[str]]:
    overlay = build(3, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 12)
    assert_whole_within(overlay)
    overlay.run_for(2.0)  # who had a copy too many has let it go
    return overlay, Stranger(overlay), stored


def assert_nothing_happened(overlay: Overlay, stored: list[str]) -> None:
    client = overlay.client()
    assert ask(overlay, client) == (set(stored), True)
    assert_whole_within(overlay)
    assert ask(overlay, client) == (set(stored), True)


def wire(record_id: str, peer: SimPeer, **changes: Any) -> Carried:
    placed = peer.core.shelf.find(("", record_id.partition(".")[0]))
    assert placed is not None
    return replace(peer.core.shelf.outgoing(placed.carried), **changes)


# -- nonsense


BAD_PARTS = [
    ((5, 4),), ((0, SIZE),), ((0, HUGE),), ((0, 1),) * (PART_MAX + 1),
]  # fmt: skip


@pytest.mark.parametrize("part", BAD_PARTS, ids=["reversed", "above", "huge", "many"])
def test_intervals_that_are_none_are_refused(
    world: tuple[Overlay, Stranger, list[str]], part: tuple[tuple[int, int], ...]
) -> None:
    overlay, stranger, stored = world
    peer = overlay.peers[2]
    view = View(stranger.contact, 1, 10**9, part, (peer.contact,))
    lost = replace(view, intervals=((0, 1),), lost=part)
    for request in (Keep(part, ()), Touch(1, part), Learn(view), Instate(view), Instate(lost)):
        fault = stranger.ask(peer, request)
        assert isinstance(fault, RemoteFault), type(request).__name__
        assert fault.kind == "ProtocolError"
    assert_nothing_happened(overlay, stored)


@pytest.mark.parametrize("kind", [Learn, Instate])
def test_a_view_that_nobody_would_install_is_refused(
    world: tuple[Overlay, Stranger, list[str]], kind: type
) -> None:
    """Of the receiver's own making, with a crowd of copies, in an epoch that is none."""
    overlay, stranger, stored = world
    peer = overlay.peers[2]
    crowd = tuple(Contact(n, f"10.8.{n // 250}.{n % 250}:1") for n in range(COPIES_MAX + 1))
    for view in (
        View(peer.contact, 1, 10**9, EVERYTHING, ()),
        View(stranger.contact, 1, 10**9, EVERYTHING, crowd),
        View(stranger.contact, 1, EPOCHS, ((0, 1),), (peer.contact,)),
        View(stranger.contact, 1, -1, ((0, 1),), (peer.contact,)),
    ):
        assert isinstance(stranger.ask(peer, kind(view)), RemoteFault)
    assert_nothing_happened(overlay, stored)


def test_messages_keep_their_form_on_the_wire() -> None:
    view = View(STRANGER, 1 << 61, 1 << 61, ((0, SIZE - 1),), (Contact(1, "a:1"),), ((3, 4),))
    made = {
        View: view, Keep: Keep(((1, 2),), ()), Kept: Kept(known=False, newer=(view,)),
        Learn: Learn(view), Instate: Instate(view, 1 << 61), Instated: Instated(newer=(view,)),
        Touch: Touch(1 << 61, ((1, 2),)), Touched: Touched((view,), copy=False),
        Stands: Stands(1 << 61), Watermarks: Watermarks((("", "stem", 7),)),
    }  # fmt: skip
    for kind in MESSAGES:
        if kind in made:
            assert codec.decode(codec.encode(made[kind])) == made[kind]


# -- strangers, and those whose time is over


def test_who_is_no_primary_has_nothing_kept(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    """It is told who is, so that one that was passed over hears of it."""
    overlay, stranger, stored = world
    probe = stored[0]
    primary, part = primary_of(overlay, probe), ((index_of(probe),) * 2,)
    gone = wire(probe, primary, kind="gone", blob=b"", version=99)
    for peer in (primary, *copies_of(overlay, probe)):
        reply = stranger.ask(peer, Keep(part, (gone,)))
        assert isinstance(reply, Kept)
        assert not reply.known
        assert [view.primary for view in reply.newer] == [primary.contact]
    assert_nothing_happened(overlay, stored)


def test_a_keep_about_more_than_is_kept_is_refused_whole(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, _, stored = world
    probe = stored[0]
    primary = primary_of(overlay, probe)
    copy = copies_of(overlay, probe)[0]
    as_primary = primary.runtime
    gone = wire(probe, primary, kind="gone", blob=b"", version=99)
    reply = overlay.run(as_primary.call(copy.contact, Keep(EVERYTHING, (gone,)), 5.0))
    assert not reply.known
    assert_nothing_happened(overlay, stored)


def test_a_view_of_an_epoch_that_has_passed_is_not_installed(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, stranger, stored = world
    for probe in stored[:3]:
        view = view_of(overlay, probe)
        for peer in copies_of(overlay, probe):
            for epoch in (0, 1, view.epoch - 1, view.epoch):
                late = stranger.view(view.intervals, epoch, copies=(peer.contact,))
                for request in (Learn(late), Instate(late), Instate(late, 1)):
                    reply = stranger.ask(peer, request)
                    assert isinstance(reply, Instated)
                    assert not reply.known
                    assert view in reply.newer
                    assert peer.core.views.copies[view.key].whole
    assert_nothing_happened(overlay, stored)


def test_nobody_becomes_a_copy_of_what_it_does_not_have(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    """A later view is installed only where its content is."""
    overlay, stranger, stored = world
    probe = stored[0]
    view = view_of(overlay, probe)
    others = [peer for peer in overlay.living if peer.contact.id not in view.holder_ids]
    peer = others[0]
    later = stranger.view(view.intervals, view.epoch + 1, copies=(peer.contact,))
    for adopted in (0, 1, view.epoch, view.epoch + 9):
        reply = stranger.ask(peer, Instate(later, adopted))
        assert isinstance(reply, Instated)
        assert not reply.known
        assert not any(
            one.whole and key == later.key for key, one in peer.core.views.copies.items()
        )
    assert_nothing_happened(overlay, stored)


def test_a_primary_that_was_passed_over_hears_of_it_from_any_copy(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, stranger, stored = world
    probe = stored[0]
    view = view_of(overlay, probe)
    copy = copies_of(overlay, probe)[0]
    reply = stranger.ask(copy, Touch(0, view.intervals))
    assert isinstance(reply, Touched)
    assert view in reply.newer
    assert not reply.copy
    own = overlay.run(
        primary_of(overlay, probe).runtime.call(
            copy.contact, Touch(view.epoch, view.intervals), 5.0
        )
    )
    assert own == Touched((), copy=True)


def test_nobody_is_a_copy_of_a_view_that_is_not_his(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, stranger, stored = world
    view = view_of(overlay, stored[0])
    for number in (view.number, 0, 1 << 61):
        reply = stranger.ask(primary_of(overlay, stored[0]), Stands(number))
        assert reply == Instated(known=False)


def test_watermarks_of_a_stranger_count_for_nothing_and_take_bounded_room(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, stranger, stored = world
    primary = primary_of(overlay, stored[0])
    copy = copies_of(overlay, stored[0])[0]
    stranger.runtime.send(copy.contact, Watermarks((("", "stem", 1 << 60),)))
    overlay.run_for(0.1)
    keeper = copy.core._keeper
    assert not keeper.marks.of(stranger.contact.id).watermarks
    for start in range(0, MARKS_MAX + 20_000, 20_000):
        marks = tuple(("", f"s{number}", number) for number in range(start, start + 20_000))
        primary.runtime.send(copy.contact, Watermarks(marks))
    overlay.run_for(1.0)
    kept = keeper.marks.of(primary.contact.id)
    assert len(kept.watermarks) == MARKS_MAX
    assert kept.acknowledged(("", "s99999")) == 99_999, "none of them is here: the latest count"


def test_learning_for_a_thousand_strangers_takes_bounded_room(
    world: tuple[Overlay, Stranger, list[str]],
) -> None:
    overlay, stranger, stored = world
    peer = overlay.peers[1]
    for number in range(2 * COPIES_MAX):
        view = View(stranger.contact, number, 1 << 60, ((number, number),), (peer.contact,))
        stranger.ask(peer, Learn(view))
    assert len(peer.core.views.copies) <= COPIES_MAX
    overlay.run_for(20.0)
    assert_whole_within(overlay, 30)
    assert ask(overlay, overlay.client()) == (set(stored), True)


# -- what is kept for nobody


@pytest.mark.parametrize("seed", seeds(2))
def test_what_is_learned_while_others_are_forgotten_stays(seed: int) -> None:
    """A peer forgets what it keeps for nobody, which takes as long as a note in its journal; in
    the middle of that it becomes a copy of the same once more, and keeps what it confirms."""
    overlay, drawn = build(seed, 6, disk_s=0.05), random.Random(seed)
    stored = store_some(overlay, overlay.client(), drawn, 6)
    assert_whole_within(overlay)
    probe = stored[0]
    view, primary = view_of(overlay, probe), primary_of(overlay, probe)
    peer = next(one for one in overlay.living if one.contact.id not in view.holder_ids)
    mine = View(STRANGER, 7, view.epoch + (1 << 21), ((index_of(probe),) * 2,), (peer.contact,))
    stranger = Stranger(overlay)
    record = wire(probe, primary)
    assert stranger.ask(peer, Learn(mine)) == Instated()
    assert stranger.ask(peer, Keep(mine.intervals, (record,))) == Kept()
    peer.core.views.drop(mine.key)
    overlay.kernel.spawn(peer.core._keeper.tidy_if_less())
    overlay.run_for(drawn.uniform(0.0, 0.06))
    assert stranger.ask(peer, Learn(mine)) == Instated()
    assert stranger.ask(peer, Keep(mine.intervals, (record,))) == Kept()
    overlay.run_for(0.3)
    kept = peer.core.shelf.find(("", probe.partition(".")[0]))
    assert kept is not None, "it has confirmed to keep this"
    assert overlay.disk is not None
    assert b"r:\0" + probe.partition(".")[0].encode() in overlay.disk._content[peer.address]


def test_what_came_for_nobody_is_forgotten(world: tuple[Overlay, Stranger, list[str]]) -> None:
    """Also when it came and was let go between two looks."""
    overlay, stranger, stored = world
    probe = stored[0]
    view, primary = view_of(overlay, probe), primary_of(overlay, probe)
    peer = next(one for one in overlay.living if one.contact.id not in view.holder_ids)
    overlay.run(peer.core._keeper.tidy_if_less())
    mine = View(STRANGER, 7, view.epoch + (1 << 21), ((index_of(probe),) * 2,), (peer.contact,))
    assert stranger.ask(peer, Learn(mine)) == Instated()
    assert stranger.ask(peer, Keep(mine.intervals, (wire(probe, primary),))) == Kept()
    peer.core.views.drop(mine.key)
    overlay.run(peer.core._keeper.tidy_if_less())
    assert peer.core.shelf.find(("", probe.partition(".")[0])) is None


# -- tidying while something comes back


def test_what_is_brought_back_while_the_shelf_is_tidied_stays_there() -> None:
    """A peer was tidying as it was to bring a former view back: it forgot what still lay on the
    shelf, tombstones among it, of which it had just found that nothing was to be put there."""
    overlay = build(5, 8, disk_s=0.002)
    stored = store_some(overlay, overlay.client(), random.Random(5), 30)
    assert_whole_within(overlay)
    peer, record = next(
        (one, record) for record in stored for one in overlay.living
        if one.contact.id not in view_of(overlay, record).holder_ids
    )  # fmt: skip
    primary, index = primary_of(overlay, record), index_of(record)
    keeper, views = peer.core._keeper, peer.core.views
    absent = subtract(EVERYTHING, views.kept())
    former = View(STRANGER, 7, views.next_epoch(), absent, ())
    carried = wire(record, primary)

    async def lay_aside() -> None:
        views.remember(former)
        keeper.expect(absent)
        await peer.core.shelf.admit((carried,), Admission())
        other = subtract(absent, ((index, index),))
        await keeper.clear((other[0],))

    overlay.run(lay_aside())
    assert peer.core.shelf.find(key_of(carried)) is not None
    tidies = peer.runtime.spawn(keeper.tidy_if_less())

    async def come_back() -> None:
        async with keeper.brought_back(((index, index),), former.epoch):
            pass

    comes = peer.runtime.spawn(come_back())
    for task in (tidies, comes):
        overlay.kernel.run_until(task)
    assert peer.core.shelf.find(key_of(carried)) is not None
    assert intersect(views.kept(), ((index, index),))
