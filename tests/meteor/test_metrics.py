"""Metrics, health and readiness of a peer, over HTTP as an operator's tools ask for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

import meteor
from chord import Contact
from meteor.distribution import Distribution
from meteor.operation.metrics import METRICS, STATE
from meteor.operation.snapshot import peers_by_density
from meteor.rendezvous.tally import APPLICATION, MALFORMED, action_of
from meteor.wire.messages import Amend, Post
from meteor.wire.view import View
from tests.certificates import NOW, tls
from tests.meteor.building import SPACE

ROOT = Path(__file__).parents[2]


async def scraped(
    peer: meteor.Peer, shown: meteor.TLS | None = None, headers: Mapping[str, str] | None = None
) -> dict[str, list[Sample]]:
    """Samples by name."""
    scheme = "http" if shown is None else "https"
    context = shown.client_context() if shown is not None else True
    found: dict[str, list[Sample]] = {}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{scheme}://{peer.address}/metrics", ssl=context, headers=headers) as answer,
    ):
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        for family in text_string_to_metric_families(await answer.text()):
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample)
    return found


def value(samples: dict[str, list[Sample]], name: str, **labels: str) -> float:
    (one,) = [sample.value for sample in samples[name] if sample.labels == labels]
    return one


async def status(peer: meteor.Peer, path: str) -> tuple[int, dict[str, str]]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{peer.address}{path}") as answer,
    ):
        return answer.status, await answer.json(content_type=None)


@pytest.mark.sockets
async def test_what_a_peer_does_shows_in_its_metrics(tmp_path: Path) -> None:
    async with (
        meteor.Peer(space=SPACE, data_dir=tmp_path) as peer,
        meteor.Peer(join=[peer.address]) as other,
        meteor.connect(peer.address) as client,
    ):
        interest = await client.notify_data("temperature>=80")
        await client.store("type=alarm temperature=90", b"hot")
        assert (await interest.recv(timeout=5)).data == b"hot"
        await client.retrieve("temperature>=80").all()
        with pytest.raises(meteor.Refused):
            await client.retrieve("type=*").all()
        samples, others = await scraped(peer), await scraped(other)
    assert value(samples, "meteor_ready") == 1
    assert value(samples, "meteor_posts_total", action="store", outcome="complete") == 1
    assert value(samples, "meteor_posts_total", action="retrieve", outcome="complete") == 1
    assert value(samples, "meteor_matches_total") >= 2
    assert value(samples, "meteor_clients") == 1
    assert value(samples, "meteor_records", kind="data") == 1
    assert value(samples, "meteor_records", kind="interest") == 1
    assert value(samples, "meteor_ring_peers") == value(others, "meteor_ring_peers") == 2
    assert value(samples, "meteor_lost_intervals") == 0
    assert value(samples, "meteor_link_messages_total", direction="in") > 0
    assert value(samples, "meteor_link_bytes_total", direction="out") > 0
    assert value(samples, "meteor_links") >= 2
    assert value(samples, "meteor_journal_commit_seconds_count") > 0
    assert value(samples, "meteor_post_hops_count") == 3
    sent = sum(value(one, "meteor_notifications_sent_total") for one in (samples, others))
    assert sent >= 1
    # One registry a peer: the other has counted none of this.
    assert "meteor_posts_total" not in others
    assert "process_resident_memory_bytes" in samples


def own_views(*peers: meteor.Peer) -> list[View]:
    return [view for peer in peers for view in peer.core.views.own.values()]


@pytest.mark.sockets
async def test_copies_that_a_small_ring_cannot_make_are_missing() -> None:
    """It said 0 where the ring had no more peers, and an operator took one copy for three."""
    async with meteor.Peer(space=SPACE) as peer:
        assert value(await scraped(peer), "meteor_copies_missing") == 2
        async with meteor.Peer(join=[peer.address]) as other:
            views: list[View] = []
            while views != (now := own_views(peer, other)):  # two may become one as somebody asks
                views, samples = now, [await scraped(peer), await scraped(other)]
            missing = sum(value(one, "meteor_copies_missing") for one in samples)
            assert missing >= len(views) >= 2
    async with meteor.Peer(space=SPACE, copies=1) as peer:
        assert value(await scraped(peer), "meteor_copies_missing") == 0


@pytest.mark.sockets
async def test_a_journal_that_was_damaged_shows(tmp_path: Path) -> None:
    """The log alone said so, once."""
    said = []
    for damaged in (False, True):
        if damaged:
            (tmp_path / "meteor.sqlite").write_bytes(b"noise" * 5_000)
        async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
            said.append(value(await scraped(peer), "meteor_journal_damaged"))
    assert said == [0, 1]


@pytest.mark.sockets
async def test_who_does_not_operate_a_peer_cannot_count_what_is_hidden() -> None:
    """Who posts and sees a notice go out knew that somebody hides an interest in it."""
    secret, token = meteor.Identity.generate(), "sixteen letters or more"
    elsewhere = {"X-Forwarded-For": "192.0.2.1"}
    async with (
        meteor.Peer(space=SPACE, rest=meteor.RestConfig(token=token)) as peer,
        meteor.connect(peer.address, identity=secret) as hiding,
        meteor.connect(peer.address) as posting,
    ):
        before = await scraped(peer, headers=elsewhere)
        interest = await hiding.notify_data("temperature>=80", visible_to=[])
        await hiding.store("type=alarm temperature=70", visible_to=[])
        await posting.store("type=alarm temperature=90")
        await interest.recv(timeout=5)
        after = await scraped(peer, headers=elsewhere)
        operated = await scraped(peer, headers={**elsewhere, "Authorization": f"Bearer {token}"})
    told = set(STATE) - {"meteor_certificate_end_timestamp_seconds"}
    assert set(after) == told
    for name in told - {"meteor_loop_lateness_seconds"}:
        assert value(after, name) == value(before, name)
    assert value(operated, "meteor_notifications_sent_total") >= 1


@pytest.mark.sockets
async def test_every_metric_is_described_and_named_by_convention(tmp_path: Path) -> None:
    shown = tls("127.0.0.1")
    async with meteor.Peer(space=SPACE, data_dir=tmp_path, tls=shown) as peer:
        await peer.store("type=a")
        samples = await scraped(peer, shown)
    names = {name for name in samples if name.startswith("meteor_")}
    ends = value(samples, "meteor_certificate_end_timestamp_seconds")
    assert abs(ends - (NOW + timedelta(days=30)).timestamp()) < 2
    known = {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}
    # denials have a sample once there is one
    assert known == METRICS.keys() - {"meteor_denials_total"}
    for name in METRICS:
        assert re.fullmatch(r"meteor(_[a-z]+)+", name)
    operating = (ROOT / "docs" / "operating.md").read_text()
    for name, meaning in METRICS.items():
        assert f"| `{name}` | {meaning} |" in operating


@pytest.mark.sockets
async def test_alive_and_ready_are_two_questions() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        alive, form = await status(peer, "/healthz")
        assert (alive, form["id"]) == (200, f"{peer.id:x}")
        assert (await status(peer, "/readyz"))[0] == 200
        core, peer._core = peer._core, None  # as while it hands over
        assert (await status(peer, "/healthz"))[0] == 200
        ready, problem = await status(peer, "/readyz")
        assert (ready, problem["detail"]) == (503, "this peer leaves its ring")
        assert value(await scraped(peer), "meteor_ready") == 0
        peer._core = core


def test_a_peer_that_has_not_started_says_why_it_is_not_ready() -> None:
    peer = meteor.Peer(space=SPACE)
    assert peer.unreadiness == "this peer starts"
    assert peer.snapshot() is None
    assert peer.whereabouts == {}


@given(st.lists(st.floats(0, 100)), st.lists(st.floats(0, 100), unique=True).map(sorted))
def test_a_distribution_counts_as_a_plain_filter(values: list[float], bounds: list[float]) -> None:
    counted = Distribution(bounds)
    for one in values:
        counted.note(one)
    assert sum(counted.counts) == len(values)
    for number, bound in enumerate(bounds):
        assert sum(counted.counts[: number + 1]) == sum(one <= bound for one in values)


@given(st.integers(1, 200), st.integers(1, 16), st.randoms(use_true_random=False))
def test_the_size_of_a_ring_is_estimated_from_a_successor_list(
    peers: int, length: int, drawn: object
) -> None:
    """Even placement gives it exactly; a list that knows everybody is exact however they lie."""
    bits = 32
    contacts = [Contact(number * (1 << bits) // peers, f"p:{number}") for number in range(peers)]
    successors = [contacts[(1 + number) % peers] for number in range(min(length, peers))]
    estimate = peers_by_density(contacts[0], successors, bits)
    assert abs(estimate - peers) < 1e-3 * peers
    assert peers_by_density(contacts[0], [], bits) == 1
    uneven = [Contact(number * number, f"p:{number}") for number in range(peers)]
    assert peers_by_density(uneven[0], [*uneven[1:], uneven[0]], bits) == peers


def test_posts_are_counted_under_few_names_whatever_clients_send() -> None:
    assert action_of(Amend(0, "renew", "a", 0, 0.0, 0.0, b"")) == "renew"
    assert action_of(Amend(0, "x" * 1000, "a", 0, 0.0, 0.0, b"")) == MALFORMED
    broken = Post(0, b"\xff", "a", 1, 0.0, 0.0)
    assert action_of(broken) == MALFORMED
    assert APPLICATION not in (MALFORMED, "store")
