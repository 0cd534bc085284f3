"""Messages that no peer or client of ours would send: each is refused, and the peer serves on.

An exception in a handler or a conversation stops the simulation, and one in reading is logged, so
that every test here fails if one gets out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from arms import Profile
from chord import CallError, Contact, RemoteFault
from meteor.admission import place_packed
from meteor.wire import codec
from meteor.wire.codec import wire_codec
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Acknowledge, Amend, Document, Greet, Post, PostReply, RingQuestion
from meteor.wire.operations import (
    Carried,
    Claim,
    ClaimAnswer,
    Freeze,
    Frozen,
    Inherit,
    Operation,
    Pull,
    PulledPage,
    TakeOver,
    Yours,
)
from meteor.wire.record_id import make_id
from sim.overlay import Overlay
from sim.runtime import SimRuntime
from squid import Box, HandOn
from squid.messages import Report, ResultFrame
from tests.meteor.building import SPACE

CURVE = SPACE.curve
POINT = Box(CURVE.decode(7), CURVE.decode(7))
EVERYTHING = (0, CURVE.size - 1)
ID = make_id("stem", POINT, CURVE)
PROFILE = pack_profile(Profile.parse("type=alarm temperature=50", SPACE))
DOCUMENT = encode_document(Document("store", PROFILE, b"x"))
TOO_DEEP = b"\x91" * 100_000 + b"\x90"
OF_NOTHING = msgspec.msgpack.encode(["type", SPACE.digest, ["", 0, [["type", 4]]]])
POST = Post(1, DOCUMENT, "stem", 1, 60.0, 5.0)


def operation(**changes: Any) -> bytes:
    made = Operation("store", ID, 1, "", 60_000, DOCUMENT)
    return codec.encode(replace(made, **changes))


def carried(**changes: Any) -> Carried:
    return replace(Carried("data", ID, "", 1, "store", 60_000, DOCUMENT, 1, 0, None), **changes)


class Stranger:
    """Somebody at the network who says what he likes, and answers what he is told to."""

    def __init__(self, overlay: Overlay, *, address: str = "10.9.9.9:1") -> None:
        self.overlay = overlay
        self.contact = Contact(99, address)
        self.runtime = SimRuntime(overlay.kernel, overlay.network, self.contact)
        self.replies: dict[type, object] = {}
        self.runtime.serve(self._handle, lambda _: None)

    def _handle(self, _: Contact, message: object, __: float) -> object:
        return self.replies.get(type(message), Yours())

    def ask(self, request: object, peer: int = 0) -> object:
        """The reply, or the error."""
        target = self.overlay.peers[peer].contact
        return self.overlay.run(self._call(target, request))

    async def _call(self, target: Contact, request: object) -> object:
        try:
            return await self.runtime.call(target, request, 6.0)
        except CallError as error:
            return error


@pytest.fixture(autouse=True)
def no_bug_is_met(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What is refused because of a bug is not what is refused."""
    yield
    assert not [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=5, space=SPACE, seed=3)


def assert_serving(overlay: Overlay) -> None:
    client = overlay.client()
    receipt = overlay.run(client.store("type=alarm temperature=20", b"x"))
    found = overlay.run(client.retrieve("type=alarm").all())
    assert [match.id for match in found] == [receipt.id]


@pytest.mark.parametrize(
    ("where", "request_"),
    [
        ("meteor.rendezvous.entry.read_document", POST),
        ("meteor.admission.unpack_profile", POST),
        ("meteor.security.gatekeeper.Gatekeeper.admit_post", POST),
        ("meteor.security.gatekeeper.Gatekeeper.admit_amend", Amend(1, "cancel", ID, 1, 0.0, 5.0)),
    ],
)
def test_a_bug_in_reading_costs_one_request_and_is_logged(
    overlay: Overlay,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: str,
    request_: object,
) -> None:
    """Whoever knew of one could else end peer after peer."""

    def meets_a_bug(*_: object) -> object:
        raise ZeroDivisionError("planted")

    place_packed.cache_clear()  # it may have been read before, in this process
    with monkeypatch.context() as planted:
        planted.setattr(where, meets_a_bug)
        fault = Stranger(overlay).ask(request_)
    assert isinstance(fault, RemoteFault)
    assert (fault.kind, fault.message) == ("internal", "ZeroDivisionError")
    (line,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert line.exc_info is not None
    assert_serving(overlay)
    caplog.clear()


@pytest.mark.parametrize("text", ["", "x", "a=" + "[" * 5000, 'name="a"', "bits=1\n[[dimensions]]"])
def test_a_greeting_with_a_space_that_cannot_be_read_is_refused(
    overlay: Overlay, text: str
) -> None:
    fault = Stranger(overlay).ask(Greet(b"another", text))
    assert isinstance(fault, RemoteFault)
    assert fault.kind == "SpaceMismatch"
    assert_serving(overlay)


@pytest.mark.parametrize(
    "post",
    [
        replace(POST, timeout_s=float("nan")),
        replace(POST, timeout_s=float("inf")),
        replace(POST, timeout_s=-1.0),
        replace(POST, timeout_s=1e30),
        replace(POST, ttl_s=float("nan")),
        replace(POST, version=-1),
        replace(POST, version=2**64 - 1),
        replace(POST, stem="no.stem"),
        replace(POST, document=b""),
        replace(POST, document=b"\x02rubbish"),
        replace(POST, document=encode_document(Document("store", TOO_DEEP))),
        replace(POST, document=encode_document(Document("store", b"\xa1\xff"))),
        replace(POST, document=encode_document(Document("retrieve", OF_NOTHING))),
        replace(POST, document=encode_document(Document("burn", PROFILE))),
        Amend(1, "renew", ID, 1, 60.0, float("nan")),
        Amend(1, "cancel", ID, 1, 0.0, float("inf")),
        Amend(1, "replace", ID, 1, 60.0, float("inf"), DOCUMENT),
        Amend(1, "renew", ID, 2**64 - 1, 60.0, 5.0),
        Amend(1, "renew", ID, -1, 60.0, 5.0),
        Amend(1, "replace", ID, 2**64 - 1, 60.0, 5.0, DOCUMENT),
        Amend(1, "replace", ID, 1, 60.0, 5.0, b"rubbish"),
        Amend(1, "burn", ID, 1, 60.0, 5.0),
        Amend(1, "cancel", "stem.zzzz", 1, 60.0, 5.0),
        Amend(1, "cancel", "é.é", 1, 60.0, 5.0),
    ],
)
def test_a_post_that_no_client_sends_is_refused(overlay: Overlay, post: object) -> None:
    assert isinstance(Stranger(overlay, address="").ask(post), RemoteFault)
    assert_serving(overlay)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x01rubbish",
        codec.encode(Yours()),
        operation(verb="burn"),
        operation(id="no id"),
        operation(id="stem.zzzz"),
        operation(moved_to="x", verb="cancel"),
        operation(document=b"rubbish"),
        operation(document=encode_document(Document("store", TOO_DEEP))),
        operation(ttl_ms=-1),
        operation(ttl_ms=2**62),
        operation(verb="retrieve", ttl_ms=0, document=b"rubbish"),
        operation(verb="delete_data", document=b""),
        operation(verb="renew", document=b"rubbish"),
    ],
)
@pytest.mark.parametrize("job", [((7, 7),), (EVERYTHING,)])
def test_a_share_that_cannot_be_read_is_reported_missing_or_left(
    overlay: Overlay, body: bytes, job: tuple[tuple[int, int], ...]
) -> None:
    stranger = Stranger(overlay)
    share = HandOn(
        b"o" * 16, 0, stranger.contact, SPACE.digest, POINT.low, POINT.high, job, 0, 3000, body
    )
    stranger.ask(share)
    overlay.run_for(1.0)
    assert not any(True for peer in overlay.peers for _ in peer.core.shelf.store.records())
    assert_serving(overlay)


@pytest.mark.parametrize("remaining_ms", [-1, 2**60])
def test_a_share_without_an_end_is_refused(overlay: Overlay, remaining_ms: int) -> None:
    stranger = Stranger(overlay)
    share = HandOn(
        b"o" * 16, 0, stranger.contact, SPACE.digest, POINT.low, POINT.high, ((7, 7),), 0,
        remaining_ms, operation(),
    )  # fmt: skip
    assert isinstance(stranger.ask(share), RemoteFault)


def test_results_and_reports_that_cannot_be_read_are_passed_over(overlay: Overlay) -> None:
    """Somebody who knows the operation speaks into it."""
    client, stranger = overlay.client(), Stranger(overlay)
    overlay.run(client.store("type=lamp temperature=20", b"x"))
    router = overlay.peers[0].core.router
    asked = overlay.kernel.spawn(_all(client))
    while not router._operations:
        overlay.run_for(0.0002)
    (operation_id,) = router._operations
    target = overlay.peers[0].contact
    for body in (b"", b"\x01rubbish", codec.encode(Yours())):
        stranger.runtime.send(target, ResultFrame(operation_id, 0, 1, 0, body))
        point = ((7, 7),)
        stranger.runtime.send(target, Report(operation_id, 0, 1, point, (), 1, 0, body))
        stranger.runtime.send(target, Report(operation_id, 0, 2, (), (), -1, 0, body))
    assert len(overlay.run(asked)) == 1
    assert_serving(overlay)


async def _all(client: Any) -> Any:
    return await client.retrieve("type=*", everywhere=True).all()


@pytest.mark.parametrize(
    "request_",
    [
        Claim((5, 2)),
        Claim((0, 2**200)),
        Pull((0, CURVE.size), 0),
        Pull((3, 3), 2**62),
        Freeze((9, 2), 0),
        TakeOver((3, 3), 12345),
        TakeOver(EVERYTHING, 1),
        TakeOver((3, 1), 1),
        Inherit((7, 3)),
        Inherit((7, 2**500)),
    ],
)
def test_hand_offs_that_nobody_agreed_on_change_nothing(overlay: Overlay, request_: object) -> None:
    before = [peer.core.holdings.held for peer in overlay.peers]
    for peer in range(5):
        Stranger(overlay, address=f"10.9.9.{peer}:1").ask(request_, peer)
    overlay.run_for(6.0)
    assert [peer.core.holdings.held for peer in overlay.peers] == before
    assert_serving(overlay)


UNREADABLE = (
    carried(id="no id"),
    carried(id="stem.zzzz"),
    carried(kind="lamp"),
    carried(blob=b"rubbish"),
    carried(blob=encode_document(Document("store", TOO_DEEP))),
    carried(kind="gone", id="x"),
    carried(ttl_ms=-5),
)


@pytest.mark.parametrize(
    "reply",
    [
        Yours(),
        PulledPage(UNREADABLE, 9, more=False),
        PulledPage((), 0, more=True),
        PulledPage((carried(),), 5, more=True),
    ],
)
def test_a_leaver_who_hands_over_rubbish_does_no_harm(overlay: Overlay, reply: object) -> None:
    """A peer cannot tell who leaves truly; what it is given it reads with care."""
    stranger = Stranger(overlay)
    stranger.replies = {
        Pull: reply,
        Freeze: Frozen(PulledPage(UNREADABLE, 9, more=False), 1, ()),
    }
    index = next(first for peer in overlay.peers[1:2] for first, _ in peer.core.holdings.held)
    stranger.ask(Inherit((index, index)))
    overlay.run_for(3.0)
    records: Sequence[object] = list(overlay.peers[0].core.shelf.store.records())
    assert len(records) <= 1
    overlay.run(overlay.client().store("type=alarm temperature=21", b"x"))


def test_a_claim_is_answered_only_for_what_was_asked(overlay: Overlay) -> None:
    """Who says it holds everything is asked for no more than was claimed."""
    stranger = Stranger(overlay)
    stranger.replies = {
        Claim: ClaimAnswer((EVERYTHING,), (), (), settled=True),
        Pull: PulledPage((), 1, more=False),
        Freeze: Frozen(PulledPage((), 1, more=False), 1, ()),
    }
    peer = overlay.peers[2]
    peer.core.holdings.give(((3, 4),), stranger.contact)
    before = peer.core.holdings.held
    overlay.run(peer.core._handoff._claim((3, 4)))
    gained = peer.core.holdings.held
    assert set(gained) - set(before) <= {(3, 4)} or gained == before


def test_an_acknowledgement_is_handed_on_once_and_never_goes_in_circles(overlay: Overlay) -> None:
    stranger = Stranger(overlay)
    target = overlay.peers[0].contact
    overlay.run_for(2.0)
    for source in (
        Contact.at(target.address),
        Contact.at(overlay.peers[1].address),
        replace(target, id=5),
        overlay.peers[1].contact,
    ):
        stranger.runtime.send(target, Acknowledge("stem", ("a",), source))
        stranger.runtime.send(target, Acknowledge("stem", ("a",), source))
    delivered: list[str] = []
    record = overlay.trace.record
    overlay.trace.record = (  # type: ignore[method-assign]
        lambda now, *what: (delivered.append(what[-1]), record(now, *what))[1]
    )
    overlay.run_for(1.0)
    assert delivered.count("Acknowledge") <= 8 + 2


def test_a_picture_of_the_ring_has_an_end(overlay: Overlay) -> None:
    stranger = Stranger(overlay, address="")
    picture = stranger.ask(RingQuestion(2**62))
    assert len(picture.peers) == 5  # type: ignore[attr-defined]
    assert_serving(overlay)


def test_one_version_under_two_contents_is_refused(overlay: Overlay) -> None:
    """Two clients that use one name and one version: the second is told, the peer lives."""
    stranger = Stranger(overlay, address="")
    assert isinstance(stranger.ask(POST), PostReply)
    assert isinstance(stranger.ask(POST), PostReply), "a retry is no conflict"
    other = encode_document(Document("store", PROFILE, b"other data"))
    fault = stranger.ask(replace(POST, document=other))
    assert isinstance(fault, RemoteFault)
    assert fault.kind == "Refused"
    near = pack_profile(Profile.parse("type=alarm temperature=50 extra=1", SPACE))
    fault = stranger.ask(replace(POST, document=encode_document(Document("store", near, b"x"))))
    assert isinstance(fault, RemoteFault)
    assert_serving_beside(overlay)


def assert_serving_beside(overlay: Overlay) -> None:
    client = overlay.client()
    found = overlay.run(client.retrieve("type=alarm").all())
    assert [match.data for match in found] == [b"x"]
