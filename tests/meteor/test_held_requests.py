"""Requests that lay before a held process: nothing is done when nobody waits for it any more."""

from __future__ import annotations

import pytest

from chord import Deferred, RemoteFault, replace
from meteor.errors import Busy
from meteor.wire.codec import wire_codec
from meteor.wire.document import encode_document
from meteor.wire.messages import Amend, Document, Post, PostReply, RingQuestion
from sim.overlay import Overlay
from squid import covers
from tests.meteor.building import SPACE
from tests.meteor.copies_world import copies_of, index_of, primary_of
from tests.meteor.test_overlay_hostile import DOCUMENT, PROFILE, Stranger

TTL_S = 8.0


def post(timeout_s: float = 5.0) -> Post:
    return Post(1, DOCUMENT, "stem", 1, TTL_S, timeout_s)


def built() -> Overlay:
    return Overlay(codec=wire_codec(), peers=5, space=SPACE, seed=3)


def lives(overlay: Overlay) -> bool:
    return bool(overlay.run(overlay.client().retrieve("type=alarm").all()))


def test_a_store_that_comes_again_lives_no_longer() -> None:
    overlay = built()
    stranger = Stranger(overlay)
    assert isinstance(stranger.ask(post()), PostReply)
    overlay.run_for(TTL_S - 2)
    assert isinstance(stranger.ask(post(), peer=2), PostReply)
    assert lives(overlay)
    overlay.run_for(2.0)
    assert not lives(overlay)


def test_a_request_that_lay_before_a_held_peer_for_all_of_its_time_is_refused() -> None:
    """Its client asked another peer meanwhile, and what that one kept is over."""
    overlay = built()
    held, stranger = overlay.peers[4], Stranger(overlay)
    stranger.ask(RingQuestion(0), peer=4)  # a link is there
    held.pause()
    late = overlay.kernel.spawn(stranger.runtime.call(held.contact, post(), 60.0))
    assert isinstance(Stranger(overlay, address="10.9.9.8:1").ask(post()), PostReply)
    overlay.run_for(TTL_S + 1)
    assert not lives(overlay)
    held.resume()
    overlay.run_for(3.0)
    assert not lives(overlay)
    with pytest.raises(RemoteFault, match=r"lay for long.*ask again"):
        overlay.kernel.run_until(late)


def test_what_lay_before_a_held_holder_lives_no_longer_for_it() -> None:
    """Its origin asked the next holder meanwhile; the two were merged, and the later end counted
    (found by `meteor-sim scenario long-pauses --seed 8`)."""
    overlay = built()
    stranger = Stranger(overlay)
    stored = stranger.ask(post())
    assert isinstance(stored, PostReply)
    holder = primary_of(overlay, stored.id)
    entry = next(at for at, peer in enumerate(overlay.peers) if peer is not holder)
    overlay.run_for(TTL_S + 1)
    assert not lives(overlay)
    holder.pause()
    later = replace(post(TTL_S), stem="later")
    assert isinstance(stranger.ask(later, peer=entry), PostReply)
    over_s = overlay.kernel.now() + TTL_S
    overlay.run_for(2.0)
    holder.resume()
    overlay.run_for(over_s + 1.0 - overlay.kernel.now())
    assert not lives(overlay)


def test_a_delete_that_lay_before_a_held_peer_takes_nothing_that_came_since() -> None:
    """Its heir had carried it out, the client was told so, and the heir was gone; then something
    was stored (found by `meteor-sim scenario few-peers --seed 49`)."""
    overlay = built()
    stranger = Stranger(overlay)
    stored = stranger.ask(post())
    assert isinstance(stored, PostReply)
    holder, holders = primary_of(overlay, stored.id), copies_of(overlay, stored.id)
    away = [peer for peer in overlay.peers if peer not in (holder, *holders)]
    at = overlay.peers.index(away[0])
    client = overlay.client(peer=at)
    holder.pause()
    receipt = overlay.run(client.delete_data("type=alarm", timeout=10.0))
    assert (receipt.matches, receipt.complete) == (1, True)
    (heir,) = [one for one in holders if covers(one.core.holdings.held, index_of(stored.id))]
    heir.crash()  # else it would remember that it did it
    overlay.run_for(3.0)
    again = replace(post(), stem="again", ttl_s=600.0)
    assert isinstance(stranger.ask(again, peer=at), PostReply)
    holder.resume()
    overlay.run_for(3.0)
    assert lives(overlay)


@pytest.mark.parametrize("held_s", [0.5, 2.0])
@pytest.mark.parametrize("verb", ["delete_data", "cancel"])
def test_a_change_that_lay_before_its_clients_own_peer_is_to_be_asked_again(
    verb: str, held_s: float
) -> None:
    """The client may have had it done by another peer since, and stored something then."""
    overlay = built()
    held, stranger = overlay.peers[4], Stranger(overlay)
    stored = stranger.ask(post(), peer=4)  # a link is there
    assert isinstance(stored, PostReply)
    document = encode_document(Document("delete_data", PROFILE))
    deletes = Post(2, document, "gone", 2, 0.0, 5.0)
    change = deletes if verb == "delete_data" else Amend(2, "cancel", stored.id, 2, 60.0, 5.0)
    held.pause()
    late = overlay.kernel.spawn(stranger.runtime.call(held.contact, change, 60.0))
    overlay.run_for(held_s)
    held.resume()
    if held_s < 1.0:
        reply = overlay.kernel.run_until(late)
        assert isinstance(reply, PostReply)
        assert reply.matches == 1
    else:
        with pytest.raises(RemoteFault, match="ask again"):
            overlay.kernel.run_until(late)
    assert lives(overlay) == (held_s > 1.0)


def test_a_question_that_lay_there_is_answered() -> None:
    overlay = built()
    held, stranger = overlay.peers[4], Stranger(overlay)
    stranger.ask(post(), peer=4)
    held.pause()
    asks = Post(2, encode_document(Document("retrieve", PROFILE)), "asks", 2, 0.0, 5.0)
    late = overlay.kernel.spawn(stranger.runtime.call(held.contact, asks, 60.0))
    overlay.run_for(2.0)
    held.resume()
    reply = overlay.kernel.run_until(late)
    assert isinstance(reply, PostReply)
    assert reply.complete


@pytest.mark.parametrize("verb", ["delete_data", "cancel", "renew"])
def test_a_client_asks_again_by_itself(verb: str) -> None:
    """What comes just after a peer was held is an old request as far as that one knows."""
    overlay = built()
    client, held = overlay.client(peer=4), overlay.peers[4]
    stored = overlay.run(client.store("type=alarm", b"x", ttl=600.0))
    held.pause()
    overlay.run_for(1.2)
    held.resume()
    overlay.run_for(0.3)
    if verb == "delete_data":
        receipt = overlay.run(client.delete_data("type=alarm", timeout=10.0))
    elif verb == "cancel":
        receipt = overlay.run(client.cancel(stored.id, timeout=10.0))
    else:
        receipt = overlay.run(client.renew(stored.id, ttl=700.0, timeout=10.0))
    assert receipt.matches == 1


def test_a_client_without_time_to_ask_again_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    overlay = built()
    client = overlay.client(peer=4)
    stored = overlay.run(client.store("type=alarm", b"x", ttl=600.0))
    monkeypatch.setattr(overlay.peers[4].runtime, "lateness", lambda: 2.0)
    with pytest.raises(Busy, match=r"was held just now.*ask again"):
        overlay.run(client.cancel(stored.id, timeout=3.0))


def test_who_embeds_a_peer_that_stood_still_is_not_put_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it asks comes from the very process."""
    overlay = built()
    stored = overlay.run(overlay.client(peer=1).store("type=alarm", b"x", ttl=600.0))
    peer = overlay.peers[4]
    monkeypatch.setattr(peer.runtime, "lateness", lambda: 2.0)
    asks = peer.core.entry.handlers[Amend]
    deferred = asks(peer.contact, Amend(1, "renew", stored.id, 1 << 50, 60.0, 5.0), 5.0)
    assert isinstance(deferred, Deferred)
    reply = overlay.run(deferred.conversation)
    assert isinstance(reply, PostReply)
    assert reply.matches == 1


@pytest.mark.parametrize("held_s", [1.0, 3.0])
def test_what_lay_in_the_socket_of_http_for_all_of_its_time_is_refused(held_s: float) -> None:
    """A delete among it: its caller asked another peer meanwhile."""
    overlay = built()
    held, done = overlay.peers[4], list[float]()
    held.pause()

    async def deletes() -> None:
        async with held.core.entry.turn(1, 10, timeout_s=2.0):
            done.append(held_s)

    overlay.run_for(held_s)
    held.resume()
    lay = held.runtime.spawn(deletes())
    if held_s > 2.0:
        with pytest.raises(Busy, match="the time was up"):
            overlay.kernel.run_until(lay)
    else:
        overlay.kernel.run_until(lay)
    assert done == ([held_s] if held_s < 2.0 else [])
