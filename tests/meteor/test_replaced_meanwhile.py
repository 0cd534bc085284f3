"""What is replaced by two clients at once, or as somebody cancels it, or is asked of a peer whose
report is lost, is at one place in the end, and is found there."""

from __future__ import annotations

from typing import Any

import pytest

from meteor import Client, Refused
from meteor.wire.codec import wire_codec
from meteor.wire.record_id import split_id
from sim.overlay import Overlay, SimPeer
from squid import covers
from tests.meteor.building import SPACE


def place(number: int) -> dict[str, object]:
    return {
        "type": "badge", "temperature": -40 + number * 37 % 150, "humidity": number * 61 % 100
    }  # fmt: skip


def built(seed: int = 1) -> tuple[Overlay, Client, Client]:
    overlay = Overlay(codec=wire_codec(), peers=12, space=SPACE, seed=seed)
    return overlay, overlay.client(peer=2), overlay.client(peer=7)


def holder_of(overlay: Overlay, full_id: str) -> SimPeer:
    index = SPACE.curve.encode(split_id(full_id, SPACE.curve)[1].low)
    return next(one for one in overlay.peers if covers(one.core.holdings.held, index))


async def texts(client: Client, *numbers: int) -> list[str]:
    return [one.text for number in numbers for one in await client.retrieve(place(number))]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_two_replaces_at_once_the_later_one_counts(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier one came to the old place last, was told that all was done, and what it had
    brought lived beside the other one's, out of reach of every id but its own."""
    overlay, one, other = built(seed)
    amending = overlay.peers[2].core.entry._amending
    leave = amending._leave

    async def late(*said: Any) -> Any:
        await amending._runtime.sleep(1.0)
        return await leave(*said)

    monkeypatch.setattr(amending, "_leave", late)

    async def earlier(full_id: str) -> None:
        with pytest.raises(Refused) as refused:
            await one.replace(full_id, place(1), "one")
        assert refused.value.rule == "older"

    async def scenario() -> None:
        stored = await other.store(place(0), "0")
        first = overlay.kernel.spawn(earlier(stored.id))
        await amending._runtime.sleep(0.1)
        assert (await other.replace(stored.id, place(2), "other")).complete
        await first
        assert await texts(other, 0, 1, 2) == ["other"]
        assert (await other.cancel(stored.id)).matches == 1
        assert await other.retrieve("type=badge") == []

    overlay.run(scenario())


@pytest.mark.parametrize("verb", ["cancel", "renew"])
def test_what_comes_back_as_it_is_followed_is_met(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had been asked for there before, so a cancel found nothing, and was complete."""
    overlay, mover, other = built()
    router = overlay.peers[7].core.router
    disseminate = router.disseminate
    ids: list[str] = []

    async def back_first(box: Any, *said: Any, **more: Any) -> Any:
        if ids and box == split_id(ids[-1], SPACE.curve)[1] and len(ids) < 4:
            to = 0 if len(ids) % 2 == 0 else 1
            ids.append((await mover.replace(ids[-1], place(to), str(len(ids)))).id)
        return await disseminate(box, *said, **more)

    monkeypatch.setattr(router, "disseminate", back_first)

    async def scenario() -> None:
        stored = await mover.store(place(0), "0")
        moved = await mover.replace(stored.id, place(1), "1")
        ids.extend([stored.id, moved.id])
        if verb == "cancel":
            assert (await other.cancel(stored.id)).matches == 1
            assert await mover.retrieve("type=badge") == []
        else:
            assert (await other.renew(stored.id, ttl=900)).matches == 1
        assert len(ids) == 4

    overlay.run(scenario())


@pytest.mark.parametrize("middle", range(3, 9))
def test_a_report_that_is_lost_leaves_nothing_behind(
    middle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the old place, which was asked once more, there was word of the newest place by then, and
    none of the one between: there the record stayed, and was found by its former content."""
    overlay, one, other = built()
    lost: list[str] = []

    async def scenario() -> None:
        stored = await one.store(place(0), "0")
        await one.replace(stored.id, place(middle), "1")
        point = holder_of(overlay, stored.id).core.point
        change = point._change

        async def changed(task: Any, *said: Any) -> Any:
            done = await change(task, *said)
            if task.operation.id == stored.id and not lost:
                lost.append(stored.id)
                await point._runtime.sleep(60.0)
            return done

        monkeypatch.setattr(point, "_change", changed)
        monkeypatch.setattr(point._under_way, "once", lambda _, ends, do: do(lambda: ends))
        assert (await other.replace(stored.id, place(2), "2", timeout=9)).complete
        assert lost
        assert await texts(one, 0, middle, 2) == ["2"]

    overlay.run(scenario())


def test_however_often_it_is_replaced_by_its_first_id_the_way_stays_short() -> None:
    overlay, client, _ = built()
    router = overlay.peers[2].core.router
    asked: list[object] = []

    async def scenario() -> None:
        stored = await client.store(place(0), "0")
        for number in range(1, 30):
            await client.replace(stored.id, place(number), str(number))
        disseminate = router.disseminate

        def counted(box: Any, *said: Any, **more: Any) -> Any:
            asked.append(box)
            return disseminate(box, *said, **more)

        router.disseminate = counted  # type: ignore[method-assign]
        assert (await client.renew(stored.id)).matches == 1
        assert len(asked) == 2

    overlay.run(scenario())
