"""What is sent a second time, as it was signed, by whoever read along: nothing happens twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from chord import Contact
from meteor import ActionContext, Client, Match, MeteorError, Refused
from meteor.errors import from_fault
from meteor.rendezvous.recall import Recall
from meteor.rendezvous.repeats import Ran, Repeats
from meteor.security.verifying import WINDOW_S
from meteor.wire.action_messages import Perform
from meteor.wire.collector import Attempt
from meteor.wire.messages import Amend, Post, PostReply
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB

A = "type=light temperature=20"


class Wire:
    """Reads along with a client, and sends what it read again by way of any peer."""

    def __init__(self, overlay: Overlay, client: Client, reader: Client) -> None:
        self.overlay, self.read, self._reader = overlay, [], reader
        call = client._runtime.call

        def listen(peer: Contact, request: object, timeout_s: float) -> Any:
            if isinstance(request, Post | Amend):
                self.read.append(request)
            return call(peer, request, timeout_s)

        client._runtime.call = listen  # type: ignore[method-assign]

    read: list[Post | Amend]

    def again(self, request: Post | Amend, peer: int) -> PostReply:
        """Say it again; raises what the peer refuses with."""
        return self.overlay.run(self._say(request, self.overlay.living[peer].contact))

    async def _say(self, request: Post | Amend, peer: Contact) -> PostReply:
        asked = self._reader._session._requests._attempts
        asked[request.token] = Attempt(None)  # who says it again waits for it
        try:
            reply = await self._reader._runtime.call(peer, request, 5.0)
        except MeteorError as fault:
            raise from_fault(fault) from None  # type: ignore[arg-type]
        finally:
            del asked[request.token]
        assert isinstance(reply, PostReply)
        return reply


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=5)


@pytest.fixture
def alice(overlay: Overlay) -> Client:
    return overlay.client(identity=ALICE)


@pytest.fixture
def wire(overlay: Overlay, alice: Client) -> Wire:
    return Wire(overlay, alice, overlay.client(peer=3))


def wait(overlay: Overlay, seconds: float) -> None:
    overlay.run(until=overlay.kernel.now() + seconds)


def data_of(overlay: Overlay, selector: str = "type=light") -> list[bytes]:
    matches = overlay.run(overlay.client(peer=2).retrieve(selector).all())
    return sorted(match.data for match in matches)


def test_a_store_gets_the_first_receipt_by_any_peer(
    overlay: Overlay, alice: Client, wire: Wire
) -> None:
    overlay.run(overlay.client().notify_data("type=light"))
    receipt = overlay.run(alice.store(A, b"1", ttl=60))
    for peer in range(5):
        reply = wire.again(wire.read[0], peer)
        assert (reply.id, reply.complete, reply.matches) == (receipt.id, True, receipt.matches)
    assert data_of(overlay) == [b"1"]


def test_a_store_does_not_come_back_to_life(overlay: Overlay, alice: Client, wire: Wire) -> None:
    overlay.run(alice.store(A, b"1", ttl=5))
    wait(overlay, 10)
    assert wire.again(wire.read[0], 1).complete
    assert data_of(overlay) == []


def test_a_repeat_lets_nothing_live_longer(overlay: Overlay, alice: Client, wire: Wire) -> None:
    full_id = overlay.run(alice.store(A, b"1", ttl=20)).id
    overlay.run(alice.renew(full_id, ttl=30))
    wait(overlay, 25)
    for request in wire.read:
        wire.again(request, 2)
    wait(overlay, 10)
    assert data_of(overlay) == []


def test_an_older_version_is_refused(overlay: Overlay, alice: Client, wire: Wire) -> None:
    overlay.run(alice.store(A, b"old", id="lamp"))
    overlay.run(alice.store(A, b"new", id="lamp"))
    first = wire.read[0]
    assert isinstance(first, Post)
    wire.again(first, 1)  # its first receipt
    assert data_of(overlay) == [b"new"]
    for peer in overlay.peers:  # nobody remembers the request itself
        peer.core.point._repeats = Repeats()
    with pytest.raises(Refused) as refused:
        wire.again(first, 2)
    assert refused.value.rule == "older"
    assert data_of(overlay) == [b"new"]


def test_a_delete_takes_nothing_that_came_later(
    overlay: Overlay, alice: Client, wire: Wire
) -> None:
    overlay.run(alice.store(A, b"1"))
    assert overlay.run(alice.delete_data("type=light")).matches == 1
    overlay.run(alice.store(A, b"2"))
    assert wire.again(wire.read[1], 3).matches == 1
    assert data_of(overlay) == [b"2"]


def test_a_delete_of_what_overlaps_gets_its_first_receipt(
    overlay: Overlay, alice: Client, wire: Wire
) -> None:
    overlay.run(alice.store(A, b"1"))
    assert overlay.run(alice.delete_data("type=light", mode="overlap")).matches == 1
    overlay.run(alice.store(A, b"2"))
    reply = wire.again(wire.read[1], 3)
    assert (reply.matches, reply.repeated) == (1, True)
    assert data_of(overlay) == [b"2"]


def test_what_was_cancelled_stays_so(overlay: Overlay, alice: Client, wire: Wire) -> None:
    full_id = overlay.run(alice.store(A, b"1")).id
    overlay.run(alice.cancel(full_id))
    assert wire.again(wire.read[0], 2).complete
    for peer in overlay.peers:
        peer.core.point._repeats = Repeats()
    with pytest.raises(Refused, match="deleted"):
        wire.again(wire.read[0], 3)
    assert data_of(overlay) == []


def test_nobody_draws_another_ones_stream_to_himself(
    overlay: Overlay, alice: Client, wire: Wire
) -> None:
    interest = overlay.run(alice.notify_data("type=light"))
    wire.again(wire.read[0], 3)
    overlay.run(overlay.client(peer=1).store(A, b"x"))
    assert overlay.run(interest.recv(timeout=1)).data == b"x"


@pytest.mark.parametrize("hours", [-1, 1])
def test_an_issue_time_outside_the_window_is_refused(hours: int) -> None:
    overlay = Overlay(peers=2, space=SPACE, seed=1)
    alice = overlay.client(identity=ALICE)
    right = alice._session._wall_clock
    alice._session._wall_clock = lambda: right() + hours * 3600
    with pytest.raises(Refused, match="3600 s") as refused:
        overlay.run(alice.store(A, b"1"))
    assert refused.value.rule == "issue_time"
    assert overlay.peers[0].core.gatekeeper.denials == {"issue_time": 1}


def test_a_request_is_too_old_after_the_window(overlay: Overlay, alice: Client, wire: Wire) -> None:
    overlay.run(alice.store(A, b"1", ttl=5))
    wait(overlay, WINDOW_S + 5)
    with pytest.raises(Refused, match="ago"):
        wire.again(wire.read[0], 1)


def test_no_part_of_a_request_can_be_changed(overlay: Overlay, alice: Client, wire: Wire) -> None:
    full_id = overlay.run(alice.store(A, b"1", ttl=60)).id
    overlay.run(alice.renew(full_id, ttl=60))
    overlay.run(alice.delete_data("type=heavy"))
    store, renewal, delete = wire.read
    assert isinstance(store, Post)
    assert isinstance(renewal, Amend)
    assert isinstance(delete, Post)
    assert store.credentials is not None
    other = overlay.run(overlay.client().store(A, b"other")).id
    for changed in (
        replace(store, ttl_s=61.0),
        replace(store, stem="other"),
        replace(store, version=store.version + 1),
        replace(store, document=delete.document),
        replace(store, credentials=replace(store.credentials, key=BOB.key)),
        replace(
            store,
            credentials=replace(store.credentials, issued_ms=store.credentials.issued_ms + 1),
        ),
        replace(store, credentials=replace(store.credentials, signature=b"")),
        replace(delete, mode="overlap"),
        replace(delete, dry_run=True),
        replace(delete, everywhere=True),
        replace(renewal, verb="cancel"),
        replace(renewal, id=other),
        replace(renewal, ttl_s=9000.0),
    ):
        with pytest.raises(Refused) as refused:
            wire.again(changed, 1)
        assert refused.value.rule == "signature"
    denials = overlay.peers[1].core.gatekeeper.denials
    assert denials == {"signature": 13}


def test_a_signature_is_looked_at_once(overlay: Overlay, alice: Client, wire: Wire) -> None:
    overlay.run(alice.store(A, b"1"))
    verifier = overlay.peers[2].core.gatekeeper.verifier
    before = verifier.count
    for _ in range(5):
        wire.again(wire.read[0], 2)
    assert verifier.count == before + 1


def test_another_ring_takes_no_request_of_this_one(alice: Client, wire: Wire) -> None:
    wire.overlay.run(alice.store(A, b"1"))
    space = type(SPACE)("other", SPACE.dimensions)
    there = Overlay(peers=1, space=space, seed=1)
    stranger = Wire(there, there.client(), there.client())
    with pytest.raises(Refused) as refused:
        stranger.again(wire.read[0], 0)
    assert refused.value.rule == "signature"


def test_an_action_of_the_application_runs_once(
    overlay: Overlay, alice: Client, wire: Wire
) -> None:
    """By way of whichever peer it comes again: it is missing, and said so."""
    ran: list[int] = []

    def count(_: ActionContext, message: Match, matches: Sequence[Match]) -> bytes:
        ran.append(len(matches))
        return b"ran"

    for peer in overlay.peers:
        peer.core.actions.add("count", count)
    overlay.run(alice.store(A, b"1", ttl=60))
    assert len(overlay.run(alice.perform("count", "type=light").all())) == len(ran) > 0
    runs = len(ran)
    for peer in range(5):
        reply = wire.again(wire.read[-1], peer)
        assert not reply.complete
        assert all("ran here already" in trouble for trouble in reply.troubles)
    assert len(ran) == runs
    overlay.run(alice.perform("count", "type=light").all())  # signed anew it is another one
    assert len(ran) == 2 * runs


# -- what nobody remembers


def remembering_for_long(overlay: Overlay) -> None:
    """What nothing is remembered of is long over, as when minutes went by."""
    for peer in overlay.peers:
        peer.core.point._recall = Recall(peer.core.shelf.wall_ms() - 700_000)


def forget(overlay: Overlay, how: str) -> None:
    """Every peer loses its memory, as it does in these ways."""
    for peer in overlay.peers:
        point, wall_ms = peer.core.point, peer.core.shelf.wall_ms()
        point._repeats = Repeats(point.forgot)
        if how == "a restart":
            point._recall = Recall(wall_ms)
        elif how == "a change of arc":
            point._recall.gained(point.held(), wall_ms)
        else:
            point.forgot(1.0)


WAYS = ("a restart", "a change of arc", "too many others")


@pytest.mark.parametrize("mode", ["within", "overlap"])
@pytest.mark.parametrize("how", WAYS)
def test_a_forgotten_delete_takes_nothing_that_came_later(
    overlay: Overlay, alice: Client, wire: Wire, how: str, mode: Literal["within", "overlap"]
) -> None:
    remembering_for_long(overlay)
    overlay.run(alice.store(A, b"1"))
    assert overlay.run(alice.delete_data("type=light", mode=mode)).matches == 1
    delete = wire.read[-1]
    overlay.run(alice.store(A, b"2"))
    wait(overlay, 5)
    forget(overlay, how)
    wire.again(delete, 3)
    assert data_of(overlay) == [b"2"]
    assert overlay.run(alice.delete_data("type=light", mode=mode)).matches == 1
    assert data_of(overlay) == []


@pytest.mark.parametrize("how", WAYS)
def test_a_forgotten_renewal_lets_nothing_live_longer(
    overlay: Overlay, alice: Client, wire: Wire, how: str
) -> None:
    remembering_for_long(overlay)
    full_id = overlay.run(alice.store(A, b"1", ttl=20)).id
    overlay.run(alice.renew(full_id, ttl=30))
    wait(overlay, 25)
    forget(overlay, how)
    assert wire.again(wire.read[-1], 2).repeated
    wait(overlay, 10)
    assert data_of(overlay) == []


@pytest.mark.parametrize("how", WAYS)
def test_what_had_run_out_does_not_come_back(
    overlay: Overlay, alice: Client, wire: Wire, how: str
) -> None:
    remembering_for_long(overlay)
    overlay.run(alice.store(A, b"1", ttl=5))
    overlay.run(alice.store(A, b"2", ttl=60))
    wait(overlay, 10)
    forget(overlay, how)
    with pytest.raises(Refused, match="ttl ran out") as refused:
        wire.again(wire.read[0], 1)
    assert refused.value.rule == "issue_time"
    assert wire.again(wire.read[1], 1).complete
    assert data_of(overlay) == [b"2"]
    overlay.run(alice.store(A, b"3", ttl=60))  # what is signed since is nobody's repeat
    assert data_of(overlay) == [b"2", b"3"]


@pytest.mark.parametrize("how", WAYS)
def test_an_action_that_may_have_run_does_not_run(
    overlay: Overlay, alice: Client, wire: Wire, how: str
) -> None:
    ran: list[int] = []

    def count(_: ActionContext, message: Match, matches: Sequence[Match]) -> None:
        ran.append(len(matches))

    for peer in overlay.peers:
        peer.core.actions.add("count", count)
    overlay.run(alice.perform("count", "type=light").all())
    runs = len(ran)
    wait(overlay, 5)
    for peer in overlay.peers:
        performing: Any = peer.core._handlers[Perform]
        performing.__self__._ran = Ran()
    forget(overlay, how)
    reply = wire.again(wire.read[-1], 1)
    assert not reply.complete
    assert all("sign it anew" in trouble for trouble in reply.troubles)
    assert len(ran) == runs
    wait(overlay, 5)
    overlay.run(alice.perform("count", "type=light").all())
    assert len(ran) == 2 * runs


def test_a_peer_that_gains_an_arc_or_restarts_remembers_from_then_on() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=5)
    wait(overlay, 100)
    fallen, heirs = overlay.peers[0], overlay.peers[1:]
    lost, then_ms = fallen.core.holdings.held, fallen.core.shelf.wall_ms()
    assert all(peer.core.point.remembers_since_ms(lost) < then_ms - 50_000 for peer in heirs)
    own = [peer.core.holdings.held for peer in heirs]
    fallen.crash()
    wait(overlay, 30)
    assert any(peer.core.point.remembers_since_ms(lost) >= then_ms for peer in heirs)
    assert all(
        peer.core.point.remembers_since_ms(held) < then_ms
        for peer, held in zip(heirs, own, strict=True)
    )
    again = overlay.run(overlay.restart(fallen))
    assert again.core.point.remembers_since_ms(((0, 0),)) >= then_ms
