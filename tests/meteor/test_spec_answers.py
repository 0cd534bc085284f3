"""SPEC section 4 on answers, sentence by sentence: what came once is never silently nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

import meteor
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE


@pytest.fixture
async def peer() -> AsyncIterator[meteor.Peer]:
    async with meteor.Peer(space=SPACE) as made:
        for number in range(3):
            await made.store(f"type=probe temperature={number}", f"{number}")
        yield made


async def test_an_answer_that_was_taken_whole_still_knows_its_matches(peer: meteor.Peer) -> None:
    answer = peer.retrieve("type=probe")
    texts = {match.text for match in await answer.all()}
    assert texts == {"0", "1", "2"}
    first = await answer.first()
    assert first is not None
    assert first.text in texts
    assert {match.text async for match in answer} == texts
    assert {match.text for match in await answer} == texts
    assert (answer.complete, answer.missing) == (True, ())


async def test_first_is_none_where_nothing_matches(peer: meteor.Peer) -> None:
    assert await peer.retrieve("type=nothing").first() is None
    answer = peer.retrieve("type=nothing")
    assert await answer == []
    assert await answer.first() is None


async def test_a_closed_answer_says_so(peer: meteor.Peer) -> None:
    answer = peer.retrieve("type=probe")
    assert await answer.first() is not None
    with pytest.raises(meteor.Closed, match="retrieve again"):
        await answer.all()


def test_every_stated_place_raises_incomplete_while_an_arc_is_missing() -> None:
    """`.all()`, the end of `async for`, `.first()` without a match and every awaited post; with
    `allow_partial=True` the same truth stands in the flags."""
    overlay = Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=5, copies=1)
    client = overlay.client()
    run = overlay.run
    receipts = [
        run(client.store(f"type=probe temperature={n} humidity={n}")) for n in range(0, 80, 2)
    ]
    interest = run(client.notify_data("type=probe temperature>=0"))
    victim = max(overlay.peers[1:], key=lambda one: one.core.state().data)
    lost = {record.id for record in victim.core.shelf.store.records()}
    gone = next(receipt for receipt in receipts if receipt.id in lost)
    at = 2 * receipts.index(gone)
    victim.crash()
    overlay.run_for(10.0)

    async def iterated(answer: meteor.Answer) -> list[meteor.Match]:
        return [match async for match in answer]

    async def interested(**options: bool) -> meteor.Interest:
        return await client.notify_data("type=probe temperature>=0", **options)  # type: ignore[arg-type]

    async def watched() -> meteor.Watch:
        return await client.notify_interest("type=probe temperature=* humidity=*")

    exactly = f"type=probe temperature={at} humidity={at}"
    everything = "type=probe temperature>=0"
    for work in [
        client.retrieve(everything).all(),
        iterated(client.retrieve(everything)),
        iterated(client.retrieve(everything, ttl=60)),
        client.retrieve(exactly).first(),
        client.delete_data("type=other temperature>=0"),
        client.delete_interest("type=other temperature>=0"),
        interested(),
        watched(),
        client.renew(gone.id, ttl=100),
        client.cancel(gone.id),
        client.replace(gone.id, "type=probe temperature=3"),
        interest.renew(100),
        interest.replace("type=probe temperature=0..100"),
    ]:
        with pytest.raises(meteor.Incomplete) as raised:
            run(work)
        assert raised.value.missing
        assert raised.value.receipt is not None
        assert raised.value.receipt.missing == raised.value.missing
        assert "allow_partial=True" in str(raised.value)

    found = run(client.retrieve(everything).first())
    assert found is not None, "with a match there is nothing to complain of"
    answer = client.retrieve(everything, allow_partial=True)
    assert run(answer.all())
    assert not answer.complete
    assert answer.missing
    assert run(client.retrieve(exactly, allow_partial=True).first()) is None
    partial = run(client.delete_data(everything, dry_run=True, allow_partial=True))
    assert (partial.complete, bool(partial.missing)) == (False, True)
    assert run(interested(allow_partial=True)).missing
    # of its own copies only: a store on the arc whose past is missing is complete
    assert run(client.store(exactly)).complete
