"""A signed delete of what overlaps, sent again to a second peer as it was signed: the first one
fell between looking and taking, or took all that there was."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor import Client, MeteorError
from meteor.rendezvous.overlapping import Finding
from meteor.wire.messages import Post, PostReply
from meteor.wire.operations import Summary
from meteor.wire.record_id import split_id
from sim.overlay import Overlay
from squid import Outcome, covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build
from tests.meteor.security.signers import ALICE
from tests.meteor.security.test_replays import Wire, remembering_for_long

LAMPS = "type=lamp temperature=*"
ENTRY = 2


class NotSentError(Exception):
    """It was only to be signed."""


def signed_delete(
    overlay: Overlay, client: Client, mode: Literal["within", "overlap"], *, dry_run: bool = False
) -> Post:
    """As its author would send it; it goes nowhere."""
    kept: list[Post] = []
    call = client._runtime.call

    def keep(_: object, request: Post, __: float) -> Any:
        kept.append(request)
        raise NotSentError

    client._runtime.call = keep  # type: ignore[method-assign,assignment]
    with pytest.raises(NotSentError):
        overlay.run(client.delete_data(LAMPS, mode=mode, dry_run=dry_run, timeout=3))
    client._runtime.call = call  # type: ignore[method-assign]
    return kept[0]


def falls_between(overlay: Overlay, taken: int) -> None:
    """The entry peer falls when it has looked, and taken so much of what it found."""
    peer = overlay.peers[ENTRY]
    amending = peer.core.entry._amending
    take = amending._take_found

    async def fall(sender: Any, post: Any, ids: Any, admitted: Any, deadline: float) -> PostReply:
        await take(sender, post, dict(sorted(ids.items())[:taken]), admitted, deadline)
        peer.crash()
        return await overlay.kernel.sleep(100.0)  # type: ignore[func-returns-value]

    amending._take_found = fall  # type: ignore[method-assign]


def left_in(overlay: Overlay) -> list[bytes]:
    found = overlay.run(overlay.client(peer=0).retrieve(LAMPS).all())
    return sorted(match.data for match in found)


@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize("seed", range(1, 11))
def test_the_second_peer_takes_what_is_left(seed: int, taken: int) -> None:
    """It said that all was done, as much as had been found, and nothing was."""
    overlay = build(seed, 6)
    assert_whole_within(overlay)
    alice = overlay.client(peer=0, identity=ALICE)
    wire = Wire(overlay, alice, overlay.client(peer=4))
    for at in range(2):
        overlay.run(alice.store(f"type=lamp temperature={20 + at * 40}", f"{at}"))
    request = signed_delete(overlay, alice, "overlap")
    falls_between(overlay, taken)
    with pytest.raises((MeteorError, AttributeError)):
        wire.again(request, ENTRY)
    reply = wire.again(request, 2)
    assert left_in(overlay) == []
    assert reply.matches == 2 or not reply.complete


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=5)


def test_what_it_may_not_take_is_missing(overlay: Overlay) -> None:
    """Of what is later than the request nobody knows whether it came before that, of an author
    whose clock is ahead, or since it was answered."""
    remembering_for_long(overlay)
    alice = overlay.client(identity=ALICE)
    wire = Wire(overlay, alice, overlay.client(peer=3))
    request = signed_delete(overlay, alice, "overlap")
    first = wire.again(request, 1)
    assert (first.complete, first.matches) == (True, 0)
    full_id = overlay.run(alice.store("type=lamp temperature=20", b"later")).id
    reply = wire.again(request, 3)
    index = SPACE.curve.encode(split_id(full_id, SPACE.curve)[1].low)
    assert (reply.complete, reply.matches, reply.repeated) == (False, 0, True)
    assert covers(reply.missing, index)
    assert left_in(overlay) == [b"later"]
    receipt = overlay.run(alice.delete_data(LAMPS, mode="overlap"))  # signed anew
    assert (receipt.complete, receipt.matches) == (True, 1)


@pytest.mark.parametrize("mode", ["within", "overlap"])
def test_who_only_asks_hears_the_same_again(
    overlay: Overlay, mode: Literal["within", "overlap"]
) -> None:
    """The second time it was nothing."""
    alice = overlay.client(identity=ALICE)
    wire = Wire(overlay, alice, overlay.client(peer=3))
    overlay.run(alice.store("type=lamp temperature=20", b"1"))
    request = signed_delete(overlay, alice, mode, dry_run=True)
    for peer in (1, 2, 3):
        reply = wire.again(request, peer)
        assert (reply.complete, reply.matches) == (True, 1)
    assert left_in(overlay) == [b"1"]


@given(
    st.dictionaries(st.text(max_size=3), st.integers(0, 9)),
    st.lists(st.tuples(st.integers(0, 9), st.booleans())),
    st.none() | st.integers(0, 9),
)
def test_a_finding(ids: dict[str, int], told: list[tuple[int, bool]], newest: int | None) -> None:
    summaries = [Summary(matches, repeated=repeated) for matches, repeated in told]
    finding = Finding(Outcome(True, (), (), 0, 0), summaries, ids)
    counted, is_repeat = 0, False
    for matches, repeated in told:
        if repeated:
            counted, is_repeat = counted + matches, True
    assert (finding.taken_before, finding.is_repeat) == (counted, is_repeat)
    allowed = dict(ids)
    for one, version in ids.items():
        if newest is not None and version > newest:
            del allowed[one]
    assert finding.up_to(newest) == allowed
