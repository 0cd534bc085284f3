"""What somebody who tries Meteor at a prompt sees: objects that say what they are, and errors that
say what to write instead."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc

import pytest

import meteor
from meteor.described import sentences_of
from meteor.wire.messages import Found

SPACE = meteor.KeywordSpace("b", [meteor.Word("type"), meteor.Number("temperature", 0, 99)])


async def test_everything_says_what_it_is_and_how_it_is() -> None:
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        assert repr(overlay) == "<LocalOverlay 'b' peers=2>"
        peer = overlay.peers[0]
        assert repr(peer) == f"<Peer at {peer.address} id={peer.id:x}>"
        client = await overlay.connect()
        assert repr(client) == f"<Client at {client.peer_address}>"
        interest = await client.notify_data("type=a")
        assert repr(interest) == "<Interest notify_data of (type=a): active>"
        receipt = await client.store("type=a temperature=1", b"warm")
        answer = client.retrieve("type=a")
        assert repr(answer) == "<Answer retrieve of (type=a): not asked yet>"
        (match,) = await answer
        assert repr(answer) == "<Answer retrieve of (type=a): complete>"
        assert repr(match).startswith("<Match (type=a temperature=1) b'warm' ttl=3")
        assert repr(match).endswith(f"id={receipt.id}>")
        assert "temperature=1) b'warm'" in repr(await interest.recv(timeout=10))
        await interest.close()
        assert repr(interest).endswith(": closed>")
        await client.close()
        assert repr(client) == "<Client closed>"
    assert repr(peer) == "<Peer that does not serve>"


def test_what_blocks_says_the_same() -> None:
    with meteor.sync.LocalOverlay(peers=1, space=SPACE) as overlay:
        assert repr(overlay) == "<meteor.sync.LocalOverlay 'b' peers=1>"
        client = overlay.connect()
        assert repr(client).startswith("<meteor.sync.Client at ")
        with client.notify_data("type=a") as interest:
            assert repr(interest) == "<meteor.sync.Interest notify_data of (type=a): active>"
        answer = client.retrieve("type=a")
        assert answer.all() == []
        assert repr(answer) == "<meteor.sync.Answer retrieve of (type=a): complete>"


async def test_a_long_payload_is_cut_and_a_damaged_one_said_to_be() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        await client.store("type=a", b"x" * 5000)
        (match,) = await client.retrieve("type=a")
        assert "xxx'... of 5,000 bytes" in repr(match)
        assert len(repr(match)) < 200
    assert "<Match damaged ttl=0" in repr(meteor.Match(Found("a.b", 1, "", 0, b"\xff")))


def test_who_forgot_to_connect_is_told_so() -> None:
    connecting = meteor.connect("10.0.0.5:7400", "10.0.0.6:7400")
    assert repr(connecting) == "<Connecting to 10.0.0.5:7400, 10.0.0.6:7400>"
    with pytest.raises(AttributeError, match="store: not connected yet; write `async with"):
        connecting.store("type=a", b"")  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute 'publish'"):
        connecting.publish("type=a")  # type: ignore[attr-defined]


def test_a_dimension_is_not_a_word() -> None:
    with pytest.raises(meteor.SpaceError, match="is a Word, Number, Choice or Time, not 'type'"):
        meteor.KeywordSpace("b", ["type"])  # type: ignore[list-item]


async def test_nobody_there_is_said_in_plain_words() -> None:
    with pytest.raises(meteor.NotConnected) as caught:
        await meteor.connect("127.0.0.1:1")
    assert "tried 127.0.0.1:1: nobody listens at 127.0.0.1:1; give" in str(caught.value)
    with pytest.raises(meteor.JoinFailed) as failed:
        await meteor.Peer(space=SPACE, join=["127.0.0.1:1"]).start()
    assert "to join: 127.0.0.1:1: nobody listens at 127.0.0.1:1. Start" in str(failed.value)


PUBLIC = [getattr(meteor, name) for name in meteor.__all__]
WITH_FIELDS = [one for one in PUBLIC if inspect.isclass(one) and dataclasses.is_dataclass(one)]


@pytest.mark.parametrize("one", WITH_FIELDS, ids=lambda one: one.__name__)
def test_help_says_what_every_field_is(one: type) -> None:
    shown = pydoc.render_doc(one, renderer=pydoc.plaintext)
    for field in dataclasses.fields(one):
        said = sentences_of(one).get(field.name, "")
        in_the_text = f"`{field.name}`" in (inspect.getdoc(one) or "")
        assert in_the_text or (said and said.splitlines()[0] in shown), field.name


async def test_dir_shows_what_is_for_users() -> None:
    hidden = {"abandon", "begin", "leave", "mailbox", "take", "take_now", "guest", "snapshot"}
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        async with (
            client.notify_data("type=a") as interest, client.retrieve("type=a") as answer,
            client.notify_interest("type=a") as watch,
        ):  # fmt: skip
            looked_at = (overlay.peers[0], client, interest, answer, watch)
            shown = {one: set(dir(one)) for one in looked_at}
        assert not [hidden & names for names in shown.values() if hidden & names - {"leave"}]
        assert {"store", "leave", "crash", "unreadiness"} <= shown[overlay.peers[0]]
        assert {"recv", "close", "detach", "state"} <= shown[interest]
        assert {"all", "first", "close", "missing", "receipt"} <= shown[answer]
        assert "leave" not in shown[answer]
