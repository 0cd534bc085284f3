"""Who gives up on a post is told whether somebody may have done it: `may_be_done` is false only
where no peer had it, and true wherever one was asked and never said what became of it."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import meteor
from chord import Busy, Contact
from tests.meteor.fake_peer import FakeOverlay

PROFILE = "type=lamp temperature=20"


def both_crash_as_one_is_asked(overlay: FakeOverlay) -> None:
    """The first keeps what it is asked, and both are gone before anybody says so."""
    first, second = overlay.peers

    def answer(post: Any) -> Any:
        second.crash()
        first.answer = None
        first.post(first.clients[0], post)
        first.crash()
        return first.silence()

    first.answer = answer


def test_a_post_that_was_kept_is_not_said_to_be_nobodys(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        both_crash_as_one_is_asked(overlay)
        with pytest.raises(
            meteor.NotConnected, match="p0:1 was asked before and may have"
        ) as caught:
            await client.store(PROFILE, b"x", timeout=2)
        assert [record.action for record in overlay.living()] == ["store"]
        assert caught.value.may_be_done
        assert caught.value.tried
        assert pickle.loads(pickle.dumps(caught.value)).may_be_done

    overlay.run(scenario())


def test_so_is_an_action_that_is_not_repeated(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        both_crash_as_one_is_asked(overlay)
        with pytest.raises(meteor.NotConnected, match="may have run") as caught:
            await client.perform("average", PROFILE, timeout=2).all()
        assert caught.value.may_be_done

    overlay.run(scenario())


def test_a_post_that_nobody_had_is_nobodys(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for peer in overlay.peers:
            peer.crash()
        await client._runtime.sleep(1)
        with pytest.raises(meteor.NotConnected) as caught:
            await client.store(PROFILE, b"x", timeout=2)
        assert not caught.value.may_be_done
        assert "before" not in str(caught.value)

    overlay.run(scenario())


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_busy_peer_after_one_that_was_lost(overlay: FakeOverlay, asked_before: bool) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        call = client._runtime.call

        async def busy(contact: Contact, request: object, timeout_s: float) -> Any:
            if contact.address == "p1:1" and type(request).__name__ == "Post":
                raise Busy("the queue is full")
            return await call(contact, request, timeout_s)

        client._runtime.call = busy  # type: ignore[method-assign]
        first = overlay.peers[0]
        if asked_before:
            first.answer = lambda _: first.crash() or first.silence()
        else:
            first.crash()
            await client._runtime.sleep(1)
        with pytest.raises(meteor.Busy) as caught:
            await client.store(PROFILE, b"x", timeout=2)
        assert caught.value.may_be_done is asked_before
        assert ("p0:1 was asked before" in str(caught.value)) is asked_before

    overlay.run(scenario())
