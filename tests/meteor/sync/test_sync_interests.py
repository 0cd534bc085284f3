"""Interests of the blocking side, which threads may share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import meteor
from tests.meteor.asking import HOT
from tests.meteor.building import SPACE
from tests.meteor.sync.waiting import outcome


def test_an_interest_is_iterated_over_received_from_and_closed(client: meteor.sync.Client) -> None:
    with client.notify_data("type=t") as interest:
        client.store(HOT, "1")
        assert interest.recv(timeout=5).text == "1"
        client.store(HOT, "2")
        assert next(interest).text == "2"
        with pytest.raises(meteor.Timeout, match=r"no notification within 0\.01 s"):
            interest.recv(timeout=0.01)
        interest.replace("type=other")
        assert interest.renew(60).matches == 1
    assert interest.state == "closed"
    assert list(interest) == []
    with pytest.raises(meteor.Closed, match="it is closed"):
        interest.recv()


@pytest.mark.parametrize("timeout", [float("inf"), 1e12])
def test_a_wait_may_be_longer_than_a_lock_can(client: meteor.sync.Client, timeout: float) -> None:
    """As on the other side: it waits until something comes."""
    with client.notify_data("type=t") as interest:
        taken: list[Any] = []
        waits = lambda: taken.append(outcome(lambda: interest.recv(timeout)))  # noqa: E731
        taker = threading.Thread(target=waits)
        taker.start()
        while not interest._mailbox._wakers and not taken:
            client.ring()
        client.store(HOT, "came")
        taker.join(20)
    assert [getattr(one, "text", one) for one in taken] == ["came"]


def test_threads_share_an_iterator_and_each_notification_goes_to_one(
    client: meteor.sync.Client,
) -> None:
    interest = client.notify_data("type=t")
    taken: list[list[str]] = [[] for _ in range(4)]
    came = threading.Semaphore(0)

    def take(into: list[str]) -> None:
        for notification in interest:
            into.append(notification.text)
            came.release()

    threads = [threading.Thread(target=take, args=(into,)) for into in taken]
    for thread in threads:
        thread.start()
    posted = [(f"type=t temperature={number % 90}", str(number)) for number in range(300)]
    assert len(list(client.post_many(posted))) == 300
    assert all(came.acquire(timeout=10) for _ in posted)
    interest.close()
    for thread in threads:
        thread.join(10)
    everything = [text for into in taken for text in into]
    assert sorted(everything) == sorted(data for _, data in posted)


def test_threads_share_a_client(client: meteor.sync.Client) -> None:
    def post(number: int) -> None:
        for one in range(25):
            client.store(f"type=t temperature={one}", f"{number}.{one}")

    threads = [threading.Thread(target=post, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(client.retrieve("type=t").all()) == 100


def test_a_handler_has_a_thread_and_may_use_the_client(client: meteor.sync.Client) -> None:
    done, seen = threading.Event(), list[str]()

    def handler(notification: meteor.Notification) -> None:
        seen.append(notification.text)
        client.store("type=echo temperature=1", notification.text)
        done.set()

    with client.notify_data("type=t", handler=handler) as interest:
        client.store(HOT, "hello")
        assert done.wait(10)
        with pytest.raises(RuntimeError, match="its handler takes the notifications"):
            next(interest)
    (echo,) = client.retrieve("type=echo")
    assert (seen, echo.text) == (["hello"], "hello")


def test_what_a_handler_raises_goes_to_on_error(client: meteor.sync.Client) -> None:
    came, errors = threading.Event(), list[Exception]()

    def on_error(error: Exception) -> None:
        errors.append(error)
        client.ring()  # it may use the client
        came.set()

    def fail(_: meteor.Notification) -> None:
        raise KeyError("mine")

    client.callbacks.on_error = on_error
    with client.notify_data("type=t", handler=fail):
        client.store(HOT)
        assert came.wait(10)
    assert isinstance(errors[0], KeyError)


def test_nobody_awaits_a_coroutine_function_here(client: meteor.sync.Client) -> None:
    async def handler(_: meteor.Notification) -> None:
        """Never run."""

    with pytest.raises(TypeError, match="handler: the blocking side calls plain functions"):
        client.notify_data("type=t", handler=handler)
    with pytest.raises(TypeError, match="on_error"):
        meteor.sync.connect("127.0.0.1:1", on_error=handler)


def test_a_watch_knows_whether_anybody_is_interested(client: meteor.sync.Client) -> None:
    with client.notify_interest("type=lamp temperature=*") as watch:
        assert not watch.active
        with pytest.raises(meteor.Timeout):
            watch.wait_active(timeout=0.01)
        interest = client.notify_data("type=lamp")
        watch.wait_active(timeout=5)
        assert watch.recv(5).kind == "appeared"
        interest.close()
        watch.wait_idle(timeout=5)
        assert not watch.active


def test_a_full_queue_has_its_policy(client: meteor.sync.Client) -> None:
    interest = client.notify_data("type=t", queue=2, overflow="drop_oldest")
    last = client.notify_data("type=t temperature=4")
    for degrees in range(5):
        client.store(f"type=t temperature={degrees}", str(degrees))
    assert last.recv(5).text == "4"
    while interest.dropped < 3:
        client.ring()
    assert [interest.recv(5).text for _ in range(2)] == ["3", "4"]


@pytest.mark.parametrize("closing", ["client", "peer"])
def test_closing_ends_every_wait_of_other_threads(closing: str) -> None:
    """With `Closed`, or the end of the iteration; whoever waits is never left."""
    with meteor.sync.Peer(space=SPACE) as peer:
        client: Any = peer if closing == "peer" else meteor.sync.connect(peer.address)
        watch = client.notify_interest("type=t temperature=*")
        interest, answer = client.notify_data("type=u"), client.retrieve("type=u", ttl=60)
        waits: list[Callable[[], Any]] = [
            lambda: list(interest),
            lambda: list(answer),
            watch.wait_active,
            watch.recv,
        ]
        outcomes: list[Any] = []
        threads = [
            threading.Thread(target=lambda wait=wait: outcomes.append(outcome(wait)))
            for wait in waits
        ]
        for thread in threads:
            thread.start()
        for _ in range(20):  # let them begin to wait
            client.ring()
        client.close()
        for thread in threads:
            thread.join(20)
        assert len(outcomes) == len(waits)
        assert all(one == [] or isinstance(one, meteor.Closed) for one in outcomes), outcomes
