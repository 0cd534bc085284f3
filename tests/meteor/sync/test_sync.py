"""The blocking side does what the asynchronous one does, verb by verb."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import meteor
from meteor import ActionContext, Match, Message
from meteor.sync.loop_thread import LoopThread
from meteor.sync.methods import VERBS
from tests.meteor.asking import HOT
from tests.meteor.building import SPACE
from tests.meteor.sync.waiting import outcome

Call = Callable[[Any, str], Any]

CALLS: dict[str, Call] = {
    "owner": lambda client, _: client.owner,
    "post": lambda client, _: client.post(HOT, "store", data=b"x", id="a"),
    "store": lambda client, _: client.store(HOT, "x", id="a", ttl=60),
    "retrieve": lambda client, _: client.retrieve("type=t"),
    "perform": lambda client, _: client.perform("count", "type=t"),
    "notify_data": lambda client, _: client.notify_data("type=t", id="n"),
    "notify_interest": lambda client, _: client.notify_interest("type=t temperature=*", id="w"),
    "attach": lambda client, id: client.attach(id),
    "delete_data": lambda client, _: client.delete_data("type=t"),
    "delete_interest": lambda client, _: client.delete_interest("type=t"),
    "renew": lambda client, id: client.renew(id, ttl=90),
    "cancel": lambda client, id: client.cancel(id),
    "replace": lambda client, id: client.replace(id, "type=t temperature=1", "y"),
    "post_many": lambda client, _: client.post_many([Message(HOT, id="m"), (HOT, b"")]),
    "ring": lambda client, _: client.ring(),
    "forget": lambda client, _: client.forget(),
}
"""How each verb is called on either side; the argument is the id of something that was stored, or
of an interest that was detached."""


def gist(outcome: Any) -> Any:
    """What of an outcome is the same on both sides."""
    if isinstance(outcome, meteor.Receipt):
        return outcome.complete, outcome.matches, outcome.ttl
    if isinstance(outcome, Match | meteor.Result):
        return type(outcome).__name__, outcome.data
    if isinstance(outcome, meteor.RingPicture):
        return len(outcome.peers), outcome.closed
    if isinstance(outcome, list):
        return [gist(one) for one in outcome]
    if hasattr(outcome, "state"):
        return type(outcome).__name__, outcome.state, len(outcome.missing)
    return outcome


async def there(verb: str) -> Any:
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        for peer in overlay.peers:
            peer.action("count")(lambda *arguments: str(len(arguments[2])).encode())
        client = await overlay.connect()
        id = (await client.store(HOT, "before", id="before")).id
        if verb == "attach":
            id = await (await client.notify_data("type=t")).detach()
        outcome = CALLS[verb](client, id)
        if verb == "post_many":
            return gist([receipt async for receipt in outcome])
        return gist(await outcome if hasattr(outcome, "__await__") else outcome)


def here(verb: str) -> Any:
    with meteor.sync.LocalOverlay(peers=2, space=SPACE) as overlay:
        for peer in overlay.peers:
            peer.action("count")(lambda *arguments: str(len(arguments[2])).encode())
        client = overlay.connect()
        id = client.store(HOT, "before", id="before").id
        if verb == "attach":
            id = client.notify_data("type=t").detach()
        outcome = CALLS[verb](client, id)
        if isinstance(outcome, meteor.sync.Answer):
            return gist(outcome.all())
        return gist(list(outcome) if verb == "post_many" else outcome)


def test_there_is_a_call_for_every_verb_of_the_list() -> None:
    assert set(CALLS) == set(VERBS.methods)


@pytest.mark.parametrize("verb", VERBS.methods)
def test_both_sides_give_the_same(verb: str) -> None:
    assert here(verb) == asyncio.run(there(verb))


def test_post_gives_what_the_action_calls_for(client: meteor.sync.Client) -> None:
    receipt = client.post(HOT, "store", data=b"x", ttl=60)
    assert receipt.ttl == 60
    answer = client.post("type=t", "retrieve")
    assert isinstance(answer, meteor.sync.Answer)
    assert [match.id for match in answer] == [receipt.id]
    with client.post("type=t", "notify_data") as interest:
        assert type(interest) is meteor.sync.Interest
    with client.post("type=t temperature=*", "notify_interest") as watch:
        assert type(watch) is meteor.sync.Watch


def test_an_answer_streams_and_is_asked_once(client: meteor.sync.Client) -> None:
    for degrees in range(5):
        client.store(f"type=t temperature={degrees}", str(degrees))
    answer = client.retrieve("type=t")
    assert sorted(match.text for match in answer) == ["0", "1", "2", "3", "4"]
    assert answer.complete
    assert answer.receipt is not None
    assert len(client.retrieve("type=t").all()) == 5
    assert client.retrieve("type=t temperature=3").first() is not None
    assert client.retrieve("type=nothing").first() is None


def test_leaving_the_loop_ends_the_asking(client: meteor.sync.Client) -> None:
    for degrees in range(5):
        client.store(f"type=t temperature={degrees}")
    answer = client.retrieve("type=t")
    for _ in answer:
        break
    with pytest.raises(meteor.Closed, match="its loop left"):
        answer.all()


def test_a_standing_answer_takes_what_comes_later(client: meteor.sync.Client) -> None:
    with client.retrieve("type=t", ttl=60) as answer:
        matches = iter(answer)
        client.store(HOT, "later")
        assert next(matches).text == "later"
        id = answer.detach()
    assert client.attach(id).recv(5).text == "later"


def test_errors_are_those_of_the_other_side(client: meteor.sync.Client) -> None:
    with pytest.raises(meteor.TypeMismatch, match="warm"):
        client.store("type=t temperature=warm")
    with pytest.raises(meteor.Refused, match="everywhere"):
        client.retrieve("type=*")
    with pytest.raises(meteor.NotConnected, match=r"127\.0\.0\.1:1"):
        meteor.sync.connect("127.0.0.1:1", timeout=5)


def test_post_many_keeps_the_order_and_ends_when_left(client: meteor.sync.Client) -> None:
    read: list[int] = []

    def messages() -> Iterator[Message]:
        for number in range(500):
            read.append(number)
            yield Message(HOT, id=f"r{number}")

    receipts = client.post_many(messages(), concurrency=8)
    ids = [next(receipts).id.split(".")[0] for _ in range(50)]
    assert ids == [f"r{number}" for number in range(50)]
    del receipts
    assert len(read) <= 58
    with pytest.raises(meteor.TypeMismatch) as caught:
        list(client.post_many([(HOT, b""), ("type=t temperature=warm", b"")]))
    assert "message 1" in caught.value.__notes__[0]
    mixed = client.post_many([(HOT, b""), ("temperature=warm", b"")], return_errors=True)
    assert [type(one) for one in mixed] == [meteor.Receipt, meteor.TypeMismatch]


@pytest.mark.parametrize("return_errors", [False, True])
def test_post_many_is_told_of_the_close_in_another_thread(
    monkeypatch: pytest.MonkeyPatch, *, return_errors: bool
) -> None:
    """As every verb: by `Closed`, which is an error of ours and can come in a receipt's place."""
    with meteor.sync.LocalOverlay(1, space=SPACE) as overlay:
        client = overlay.connect()
        under_way = threading.Event()

        async def never(_: object) -> meteor.Receipt:
            under_way.set()
            await asyncio.Event().wait()
            raise AssertionError

        monkeypatch.setattr(client, "_post_one", never)

        def close() -> None:
            under_way.wait()
            overlay.close()

        posting: Any = client._post_each([(HOT, "a")], 64, return_errors)
        closing = threading.Thread(target=close)
        closing.start()
        told = outcome(lambda: next(posting))
        closing.join()
    assert isinstance(told, meteor.Closed), told
    assert "message 0" in told.__notes__[0]


def test_a_peer_has_every_verb_and_runs_actions_in_threads() -> None:
    with meteor.sync.Peer(space=SPACE) as peer, meteor.sync.connect(peer.address) as client:

        @peer.action("size")
        def size(context: ActionContext, message: Match, matches: Sequence[Match]) -> bytes:
            assert context.peer == peer.address
            stored = peer.retrieve("type=t").all()  # it may block, and use the peer
            return f"{message.text} {len(matches)} {len(stored)}".encode()

        peer.store(HOT, "x")
        (result,) = client.perform("size", "type=t", "of")
        assert result.text == "of 1 1"
        assert client.peer_address == peer.address
        assert client.connected
        assert client.space == peer.space
    assert not peer.serving
    peer.close()
    client.close()
    with pytest.raises(meteor.Closed):
        peer.store(HOT)
    with pytest.raises(meteor.Closed, match="was closed; make a new one"):
        client.store(HOT)


def test_an_overlay_grows_loses_peers_and_goes_on() -> None:
    with meteor.sync.LocalOverlay(peers=3, space=SPACE) as overlay:
        gone, back = threading.Event(), list[str]()
        client = overlay.connect(1)
        client.callbacks.on_disconnected = lambda _: gone.set()
        client.callbacks.on_reconnected = back.append
        client.store(HOT, "kept")
        assert overlay.peers[1] is overlay.peers[1]
        assert client.peer_address == overlay.living[1].address
        overlay.peers[1].crash()
        (match,) = client.retrieve("type=t temperature=99")
        assert match.text == "kept"
        assert gone.wait(10)
        assert len(overlay.living) == 2
        assert overlay.add_peer().serving
        assert len(overlay.peers) == 4
    with pytest.raises(meteor.Closed):
        client.store(HOT)


def test_a_peer_that_cannot_start_says_why_and_ends() -> None:
    with pytest.raises(meteor.JoinFailed), meteor.sync.Peer(space=SPACE, join=["127.0.0.1:1"]):
        pass
    with pytest.raises(TypeError, match="give a list of addresses"):
        meteor.sync.Peer(space=SPACE, join="127.0.0.1:1")


def test_a_blocking_call_in_the_loops_own_thread_is_refused() -> None:
    thread = LoopThread()
    with pytest.raises(RuntimeError, match="it would wait for itself"):
        thread.call(lambda: thread.call(int))
    thread.stop()
    thread.stop()
    with pytest.raises(meteor.Closed):
        thread.call(int)


def test_leaving_a_wait_cancels_what_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    thread, cancelled = LoopThread(), threading.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    class Interrupted(BaseException):
        """As KeyboardInterrupt comes: in the middle of waiting."""

    def interrupt(_: object) -> None:
        raise Interrupted

    started = threading.Event()
    waiting = thread.submit(_then(started.set, endless))
    assert started.wait(10)
    monkeypatch.setattr(type(waiting), "result", interrupt)
    with pytest.raises(Interrupted):
        thread.wait(endless)
    waiting.cancel()
    assert cancelled.wait(10)
    thread.stop()


async def _then(tell: Callable[[], None], go_on: Callable[[], Any]) -> None:
    tell()
    await go_on()
