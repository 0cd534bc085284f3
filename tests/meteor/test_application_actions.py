"""Actions of the application's own (SPEC section 1): once at each answering peer, over the matches
that it reports; results with peer and intervals; what does not run is missing, never silent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import meteor
from meteor import ActionContext, ActionHandler, Match
from meteor.rendezvous.performing import RUNS_MAX
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from squid import merge
from tests.meteor.building import SPACE
from tests.meteor.fake_peer import FakeOverlay

Run = Callable[[Any], Any]
EVERY = "temperature>=-40"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=31)


@pytest.fixture
def run(overlay: Overlay) -> Run:
    return overlay.run


def register(overlay: Overlay, name: str, handler: ActionHandler, *, without: int = 0) -> None:
    for peer in overlay.peers[without:]:
        peer.core.actions.add(name, handler)


async def store_readings(client: meteor.Client, count: int = 40) -> list[float]:
    degrees = [-40 + 4.0 * number for number in range(count)]
    for one in degrees:
        await client.store(f"type=sensor temperature={one:g}", json=one)
    return degrees


async def total(_: ActionContext, message: Match, matches: Sequence[Match]) -> bytes | None:
    if not matches:
        return None
    return json.dumps([len(matches), sum(match.json() for match in matches)]).encode()


def test_it_runs_once_at_each_answering_peer_over_what_that_one_reports(
    overlay: Overlay, run: Run
) -> None:
    """The counts add up to all matches, and the intervals to the whole curve, each once."""
    ran: list[tuple[str, tuple[str, ...]]] = []

    async def counting(
        context: ActionContext, message: Match, matches: Sequence[Match]
    ) -> bytes | None:
        assert context.action == "average"
        assert context.timeout > 0
        ran.append((context.peer, tuple(match.id for match in matches)))
        return await total(context, message, matches)

    register(overlay, "average", counting)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        degrees = await store_readings(client)
        answer = client.perform("average", EVERY)
        results = await answer.all()
        counts, sums = zip(*(result.json() for result in results), strict=True)
        assert (sum(counts), sum(sums)) == (len(degrees), sum(degrees))
        assert len({peer for peer, _ in ran}) == len(ran) == 8
        told = [id for _, ids in ran for id in ids]
        assert len(told) == len(set(told)) == len(degrees)
        assert {result.peer for result in results} <= {peer for peer, _ in ran}
        intervals = [interval for result in results for interval in result.intervals]
        assert sum(last - first for first, last in merge(intervals)) == sum(
            last - first for first, last in intervals
        )
        assert answer.receipt is not None
        assert answer.receipt.complete
        assert answer.receipt.matches == len(degrees)
        assert answer.receipt.peers == 8

    run(scenario())


def test_post_gives_the_same_and_the_message_says_what_was_posted(
    overlay: Overlay, run: Run
) -> None:
    async def echo(_: ActionContext, message: Match, __: Sequence[Match]) -> bytes:
        return f"{message.profile} {message.text} {message.context['zone']}".encode()

    register(overlay, "echo", echo)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        answer = client.post("type=lamp temperature=3", "echo", data="hi", context={"zone": "a"})
        assert isinstance(answer, meteor.Answer)
        assert {result.text for result in await answer} == {"type=lamp temperature=3 hi a"}

    run(scenario())


def test_results_come_while_others_still_run(overlay: Overlay, run: Run) -> None:
    slow = overlay.peers[3]

    async def report(context: ActionContext, _: Match, __: Sequence[Match]) -> bytes:
        if context.peer == slow.contact.address:
            await slow.runtime.sleep(2.0)
        return context.peer.encode()

    register(overlay, "report", report)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        began = overlay.kernel.now()
        async for result in client.perform("report", EVERY):
            late = overlay.kernel.now() - began > 1.0
            assert late == (result.peer == slow.contact.address)

    run(scenario())


def test_none_says_that_there_is_nothing_to_send(overlay: Overlay, run: Run) -> None:
    register(overlay, "average", total)

    async def scenario() -> None:
        answer = overlay.client(peer=2).perform("average", EVERY)
        assert await answer.all() == []
        assert answer.complete

    run(scenario())


def test_a_plain_function_will_do(overlay: Overlay, run: Run) -> None:
    register(overlay, "size", lambda context, message, matches: str(len(matches)).encode())

    async def scenario() -> None:
        client = overlay.client(peer=2)
        await store_readings(client)
        assert sum(int(result.text) for result in await client.perform("size", EVERY)) == 40

    run(scenario())


def test_it_meets_data_only(overlay: Overlay, run: Run) -> None:
    """No watch is told of it, and nothing of it is kept."""
    register(overlay, "average", total)

    async def scenario() -> None:
        client, lamp = overlay.client(peer=2), overlay.client(peer=4)
        watch = await lamp.notify_interest("type=lamp temperature=*")
        await client.perform("average", EVERY)
        with pytest.raises(meteor.Timeout):
            await watch.recv(timeout=1)
        assert (await client.delete_interest(EVERY, dry_run=True)).matches == 0

    run(scenario())


def test_a_peer_without_the_action_counts_as_missing(overlay: Overlay, run: Run) -> None:
    register(overlay, "average", total, without=1)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        await store_readings(client)
        with pytest.raises(meteor.Incomplete, match="no action 'average' here") as caught:
            await client.perform("average", EVERY)
        assert caught.value.missing
        assert len(caught.value.matches) >= 1
        partial = client.perform("average", EVERY, allow_partial=True)
        assert len(await partial.all()) == len(caught.value.matches)
        assert partial.missing == caught.value.missing

    run(scenario())


def test_an_action_that_nobody_has_is_unknown(overlay: Overlay, run: Run) -> None:
    register(overlay, "average", total)

    async def scenario() -> None:
        with pytest.raises(meteor.UnknownAction, match=r"no action 'averge' here.*average"):
            await overlay.client(peer=2).perform("averge", EVERY)

    run(scenario())


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (lambda *_: 1 / 0, "it raised ZeroDivisionError: division by zero"),
        (lambda *_: 7, "it gave int; an action gives bytes, or None"),
        (lambda *_: bytes(1_000_001), "it gave 1000001 bytes, above the 1000000"),
        (lambda *_: fail(ValueError("half \ud800 and \x00")), "it raised ValueError: half . and ."),
        (lambda *_: fail(ValueError("long" * 10**6)), "it raised ValueError: long"),
        (lambda *_: fail(Speechless()), "it raised Speechless, which cannot say itself"),
    ],
)
def test_what_fails_is_missing_and_said(
    overlay: Overlay, run: Run, handler: Any, reason: str
) -> None:
    register(overlay, "broken", handler)

    async def scenario() -> None:
        with pytest.raises(meteor.Incomplete, match=reason):
            await overlay.client(peer=2).perform("broken", EVERY)
        assert all(peer.alive for peer in overlay.peers)

    run(scenario())


def test_what_takes_too_long_is_cancelled_and_missing(overlay: Overlay, run: Run) -> None:
    ended: list[str] = []

    async def endless(context: ActionContext, _: Match, __: Sequence[Match]) -> bytes:
        try:
            await overlay.peers[0].runtime.sleep(3600)
        finally:
            ended.append(context.peer)
        return b""

    register(overlay, "endless", endless)

    async def scenario() -> None:
        began = overlay.kernel.now()
        client = overlay.client(peer=2)
        with pytest.raises(meteor.Incomplete, match="it did not end within"):
            await client.perform("endless", EVERY, timeout=2)
        assert overlay.kernel.now() - began <= 2
        await client._runtime.sleep(0.1)
        assert len(ended) == 8

    run(scenario())


def test_a_peer_runs_so_many_at_once_and_no_more(run: Run, overlay: Overlay) -> None:
    async def nap(_: ActionContext, __: Match, ___: Sequence[Match]) -> bytes:
        await overlay.peers[0].runtime.sleep(1)
        return b"x"

    register(overlay, "nap", nap)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        answers = [
            client.perform("nap", "type=one temperature=1 humidity=1", allow_partial=True)
            for _ in range(RUNS_MAX + 5)
        ]
        tasks = [overlay.kernel.spawn(answer.all()) for answer in answers]
        results = [await task for task in tasks]
        assert sum(len(result) for result in results) == RUNS_MAX
        refused = [answer for answer in answers if not answer.complete]
        assert all("Busy" in str(answer.receipt.troubles) for answer in refused if answer.receipt)

    run(scenario())


def test_a_peer_that_dies_in_the_middle_of_its_run_is_missing(overlay: Overlay, run: Run) -> None:
    """Its run is not repeated by who takes over: nobody knows how far it came."""
    ran: list[str] = []

    async def slow(context: ActionContext, _: Match, __: Sequence[Match]) -> bytes:
        ran.append(context.peer)
        await overlay.peers[0].runtime.sleep(1)
        return b"done"

    register(overlay, "slow", slow)

    async def scenario() -> None:
        client = overlay.client(peer=2)
        asking = overlay.kernel.spawn(client.perform("slow", EVERY, timeout=8).all())
        await client._runtime.sleep(0.5)
        victim = overlay.peers[5]
        victim.crash()
        with pytest.raises(meteor.Incomplete, match=victim.contact.address) as caught:
            await asking
        assert len(caught.value.matches) == 7
        assert len(ran) == len(set(ran)) == 8

    run(scenario())


def test_it_is_never_run_twice_when_the_link_breaks() -> None:
    """The client knows not whether it ran: it says so, and asks nobody else."""
    fake = FakeOverlay()
    peers = [fake.add_peer() for _ in range(2)]

    async def scenario() -> None:
        client = await fake.new_client().open()

        def crash(_: object) -> object:
            peers[0].crash()
            return peers[0].silence()

        peers[0].answer = crash
        with pytest.raises(meteor.NotConnected, match="may have run"):
            await client.perform("average", "type=t")
        assert peers[1].posts("average") == []

    fake.run(scenario())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("store", "is there already"),
        ("twice", "is there already"),
        ("notify-data", "could be a slip for"),
        ("Store", "could be a slip for"),
        ("no blanks", "at most 64 letters"),
        ("", "at most 64 letters"),
        ("x" * 65, "at most 64 letters"),
    ],
)
def test_a_name_that_cannot_be_registered(overlay: Overlay, name: str, reason: str) -> None:
    actions = overlay.peers[0].core.actions
    actions.add("twice", total)
    with pytest.raises(ValueError, match=reason):
        actions.add(name, total)


def test_a_slip_of_ours_is_refused_before_it_is_sent(overlay: Overlay, run: Run) -> None:
    async def scenario() -> None:
        client = overlay.client(peer=2)
        for name in ("notify-data", "Store", "delete data", "retreive", ""):
            with pytest.raises(meteor.UnknownAction):
                client.post("type=t", name)
        with pytest.raises(ValueError, match="'store' is Meteor's own action"):
            client.perform("store", "type=t")
        with pytest.raises(ValueError, match="run once and not kept"):
            client.post("type=t", "average", ttl=60)

    run(scenario())


async def test_a_peer_on_sockets_with_its_decorator() -> None:
    async with meteor.Peer(space=SPACE) as peer:

        @peer.action("average")
        async def average(
            context: ActionContext, message: Match, matches: Sequence[Match]
        ) -> bytes | None:
            return await total(context, message, matches)

        async with meteor.connect(peer.address) as client:
            await client.store("type=t temperature=20", json=20)
            await client.store("type=t temperature=22", json=22)
            (result,) = await client.perform("average", "type=t")
            assert (result.json(), result.peer, result.matches) == ([2, 42], peer.address, 2)
            (again,) = await peer.perform("average", "type=t")
            assert again.json() == [2, 42]


def test_what_lay_before_a_held_peer_for_all_of_its_time_does_not_run(
    overlay: Overlay, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client was told that it did not: a valve would open some seconds after that."""
    left_s: list[float] = []

    async def noting(context: ActionContext, message: Match, matches: Sequence[Match]) -> None:
        left_s.append(context.timeout)

    register(overlay, "open", noting)
    _, *others = overlay.peers
    for peer in others:
        monkeypatch.setattr(peer.runtime, "lateness", lambda: 3.0)

    async def scenario() -> None:
        client = overlay.client(peer=0)
        answer = client.perform("open", EVERY, timeout=2.0, allow_partial=True)
        assert await answer.all() == []
        assert answer.receipt is not None
        assert not answer.receipt.complete
        assert len(left_s) == answer.receipt.peers == 1
        left_s.clear()
        answer = client.perform("open", EVERY, timeout=20.0)
        assert await answer.all() == []
        assert answer.receipt is not None
        assert answer.receipt.peers == len(left_s) == 8
        assert 16.0 <= min(left_s) < 17.0
        assert 19.0 <= max(left_s) < 20.0

    run(scenario())
