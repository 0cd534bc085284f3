"""A delegate posts under the name of what his owner has elsewhere, and his selector is not for.

A peer keeps one version of a record.  Who kept both took the delegate's, and finished it as a
replace that came halfway: what is out of his reach was gone.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile
from meteor import ActingFor, Client, Delegation, Refused
from meteor.keeping.out_of_reach import gives_way
from meteor.keeping.placement import Admission
from meteor.keeping.standing import is_later
from meteor.security.delegated import is_within
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import Carried
from meteor.wire.record_id import stem_of
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build, crash, flaws, restart_all, seeds
from tests.meteor.security.signers import ALICE, BOB

LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)
LIGHT, SIREN = "type=light temperature=25", "type=siren temperature=80"
TTL = 1800


def words_of(selector: str) -> Delegation:
    return ALICE.delegate(BOB.key, ["store", "notify_data"], until=LATER, selector=selector)


def delegate(overlay: Overlay) -> Client:
    return overlay.client(peer=2, identity=ActingFor(BOB, words_of("type=siren")))


def lights(overlay: Overlay) -> list[bytes]:
    client = overlay.client(peer=0, identity=ALICE)
    found = overlay.run(client.retrieve("type=light", timeout=30).all())
    return [match.data for match in found]


def wait(overlay: Overlay, seconds: float) -> None:
    overlay.run(until=overlay.kernel.now() + seconds)


async def notify(client: Client, stem: str) -> object:
    return await client.notify_data("type=siren", ttl=TTL, id=stem)


POSTS: dict[str, Callable[[Client, str], Awaitable[object]]] = {
    "a point": lambda client, stem: client.store(SIREN, b"his", id=stem, ttl=TTL),
    "wide": lambda client, stem: client.store(
        "type=siren temperature=-40..125", b"his", id=stem, ttl=TTL
    ),
    "an interest": notify,
}


@pytest.mark.parametrize("post", POSTS)
@pytest.mark.parametrize("seed", seeds(10))
def test_it_is_refused_where_it_would_be_kept_beside_that(seed: int, post: str) -> None:
    """Of three copies in a ring of five one has both places: the light was gone in six of nine.  Of
    what is wide nothing is kept anywhere, not where nobody knows of the light either."""
    overlay = build(seed, peers=5 if post == "a point" else 12)
    alice, bob = overlay.client(identity=ALICE), delegate(overlay)
    full_id = overlay.run(alice.store(LIGHT, b"hers", ttl=TTL)).id

    async def posted() -> object:
        return await POSTS[post](bob, stem_of(full_id))

    with pytest.raises(Refused) as refused:
        overlay.run(posted())
    assert refused.value.rule == "delegation"
    wait(overlay, 20.0)
    assert lights(overlay) == [b"hers"]
    assert flaws(overlay) == []
    kept = [one.carried for peer in overlay.peers for one in peer.core.shelf.table]
    assert {one.id for one in kept if one.blob} == {full_id}


@pytest.mark.parametrize("powers_off", [False, True])
@pytest.mark.parametrize("seed", seeds(12))
def test_wherever_the_two_meet_later_it_stays(seed: int, powers_off: bool) -> None:
    """In a larger ring nobody has both, until some fall: it was gone in six of nine."""
    overlay = build(seed, peers=12)
    drawn = random.Random(seed)
    alice, bob = overlay.client(identity=ALICE), delegate(overlay)
    full_id = overlay.run(alice.store(LIGHT, b"hers", ttl=TTL)).id
    with suppress(Refused):
        overlay.run(bob.store(SIREN, b"his", id=stem_of(full_id), ttl=TTL))
    if powers_off:
        fallen = list(overlay.living)
        crash(*fallen)
        restart_all(overlay, fallen)
        assert_whole_within(overlay, 60.0)
    while len(overlay.living) > 5:
        drawn.choice(overlay.living[1:]).crash()
        wait(overlay, 20.0)
    wait(overlay, 30.0)
    assert lights(overlay) == [b"hers"]
    assert flaws(overlay) == []


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_two_sides_of_a_cut_keep_hers(seed: int) -> None:
    """Nobody on his side knows of it: four of twenty draws go wrong where the later counts."""
    overlay, drawn = build(seed, peers=9, disk_s=0.001), random.Random(seed)
    assert_whole_within(overlay)
    peers = drawn.sample(overlay.peers, 9)
    cut = overlay.faults.partition(
        *([one.contact for one in side] for side in (peers[:4], peers[4:]))
    )
    first, second = (overlay.peers.index(one) for one in drawn.sample((peers[0], peers[4]), 2))
    alice = overlay.client(peer=first, identity=ALICE)
    bob = overlay.client(peer=second, identity=ActingFor(BOB, words_of("type=siren")))
    overlay.run_for(20.0)
    posts = [(alice, LIGHT, b"hers"), (bob, SIREN, b"his")]
    for client, where, data in drawn.sample(posts, 2):
        overlay.run(client.store(where, data, id="lamp", ttl=TTL))
        overlay.run_for(1.0)
    cut.heal()
    assert_whole_within(overlay, 60.0)
    overlay.run_for(40.0)
    assert lights(overlay) == [b"hers"]
    assert flaws(overlay) == []


@pytest.mark.parametrize("seed", seeds(24, 40))
def test_posted_at_once_hers_stays(seed: int) -> None:
    overlay = build(seed, peers=6)
    drawn = random.Random(seed)
    alice, bob = overlay.client(identity=ALICE), delegate(overlay)

    async def hers(after_s: float) -> None:
        await overlay.kernel.sleep(after_s)
        await alice.store(LIGHT, b"hers", id="lamp", ttl=TTL)

    async def his(after_s: float) -> None:
        await overlay.kernel.sleep(after_s)
        await bob.store(SIREN, b"his", id="lamp", ttl=TTL)

    tasks: list[Any] = [overlay.kernel.spawn(one(drawn.uniform(0, 0.004))) for one in (hers, his)]
    overlay.kernel.run_until(tasks[0])
    with suppress(Refused):
        overlay.kernel.run_until(tasks[1])
    wait(overlay, 60.0)
    assert lights(overlay) == [b"hers"]
    assert flaws(overlay) == []


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_clock_that_is_ahead_does_not_keep_its_owner_from_the_name(seed: int) -> None:
    """A newer version was kept than hers, at another place."""
    overlay = build(seed, peers=5)
    alice, bob = overlay.client(identity=ALICE), delegate(overlay)
    bob._session._author._first += 300_000_000
    overlay.run(bob.store(SIREN, b"his", id="lamp", ttl=TTL))
    assert overlay.run(alice.store(LIGHT, b"hers", id="lamp", ttl=TTL)).complete
    wait(overlay, 20.0)
    assert lights(overlay) == [b"hers"]
    assert overlay.run(alice.retrieve("type=siren", timeout=30).all()) == []
    assert flaws(overlay) == []


@pytest.mark.parametrize("seed", range(1, 7))
def test_what_is_within_makes_way_as_ever(seed: int) -> None:
    """Finished by who had the first half, it is still a delegate's."""
    overlay = build(seed, peers=5)
    alice, bob = overlay.client(identity=ALICE), delegate(overlay)
    full_id = overlay.run(alice.store(SIREN, b"hers", ttl=TTL)).id
    there = "type=siren temperature=-20"
    overlay.run(bob.store(there, b"his", id=stem_of(full_id), ttl=TTL))
    wait(overlay, 20.0)
    found = overlay.run(alice.retrieve(there, timeout=30).all())
    assert [match.data for match in found] == [b"his"]
    kept = [one.carried for peer in overlay.peers for one in peer.core.shelf.table]
    assert all(one.limit for one in kept if one.blob and one.id != full_id)


def beside(overlay: Overlay) -> Carried:
    """What is hers, as another holder of its place has it, of before anything that is posted."""
    packed = pack_profile(Profile.parse(LIGHT).typed(SPACE))
    blob = encode_document(Document("store", packed, data=b"hers"))
    region = overlay.run(overlay.client().store(LIGHT, b"")).id.partition(".")[2]
    overlay.run(overlay.client().delete_data("type=light"))
    return Carried(
        "data", f"lamp.{region}", ALICE.key, 1, "store", TTL * 1000, blob, 1, 0, None
    )  # fmt: skip


@pytest.mark.parametrize("post", POSTS)
def test_his_goes_as_hers_comes_from_another_holder(post: str) -> None:
    overlay = Overlay(peers=1, space=SPACE, seed=1)
    bob = overlay.client(identity=ActingFor(BOB, words_of("type=siren")))
    watch = overlay.run(overlay.client().notify_interest("type=siren"))

    async def posted() -> object:
        return await POSTS[post](bob, "lamp")

    hers = beside(overlay)
    overlay.run(posted())
    overlay.run(overlay.peers[0].core.shelf.admit([hers], Admission()))
    assert lights(overlay) == [b"hers"]
    assert overlay.run(overlay.client(identity=ALICE).retrieve("type=siren").all()) == []
    if post == "an interest":
        kinds = [overlay.run(watch.recv(timeout=5)).kind for _ in range(2)]
        assert kinds == ["appeared", "gone"]


def test_hers_comes_while_his_is_written() -> None:
    overlay = Overlay(peers=1, space=SPACE, seed=1)
    bob = overlay.client(identity=ActingFor(BOB, words_of("type=siren")))
    hers, core = beside(overlay), overlay.peers[0].core
    copying = core.replication.copying
    replicate = copying._replicate

    async def slowly(*about: Any) -> None:
        await replicate(*about)
        await overlay.kernel.sleep(0.5)

    copying._replicate = slowly  # type: ignore[method-assign]

    async def his() -> None:
        await bob.store(SIREN, b"his", id="lamp", ttl=TTL)

    writing = overlay.kernel.spawn(his())
    overlay.run_for(0.1)
    overlay.run(core.shelf.admit([hers], Admission()))
    with pytest.raises(Refused) as refused:
        overlay.kernel.run_until(writing)
    assert refused.value.rule == "delegation"
    wait(overlay, 10.0)
    assert lights(overlay) == [b"hers"]
    assert overlay.run(overlay.client(identity=ALICE).retrieve("type=siren").all()) == []


# -- which of two gives way

PACKED = {text: pack_profile(Profile.parse(text).typed(SPACE)) for text in (LIGHT, SIREN)}
LIMITS = [b"", *(pack_profile(Profile.parse(f"type={one}")) for one in ("light", "siren"))]
KINDS = ("data", "gone", "moved")
STATES = st.builds(
    lambda text, place, version, limit, kind: Carried(
        kind=kind, id=f"lamp.{place}", owner="alice", version=version, action="store", ttl_ms=1,
        blob=encode_document(Document("store", PACKED[text])) if kind == "data" else b"",
        number=0, acknowledged=0, route=None, limit=limit,
    ),
    st.sampled_from([LIGHT, SIREN]), st.sampled_from("ab"), st.integers(1, 3),
    st.sampled_from(LIMITS), st.sampled_from(KINDS),
)  # fmt: skip


def is_beyond(one: Carried, other: Carried) -> bool:
    """The twin of it: what `one` may not touch."""
    if {one.kind, other.kind} != {"data"} or not one.limit or one.id == other.id:
        return False
    texts = [text for text, packed in PACKED.items() if packed in other.blob]
    return not any(is_within(one.limit, Profile.parse(text).typed(SPACE), "data") for text in texts)


@given(STATES, STATES)
def test_who_may_not_touch_the_other_gives_way(one: Carried, other: Carried) -> None:
    mine, its = is_beyond(one, other), is_beyond(other, one)
    later = max(one, other, key=lambda state: (state.version, state.id))
    expected = mine and (not its or one is later)
    assert gives_way(one, other) == expected
    if expected:
        assert not gives_way(other, one)
        assert is_later(other, one)
        assert not is_later(one, other)


@given(st.binary(max_size=20), STATES)
def test_a_limit_that_is_none_is_none(limit: bytes, other: Carried) -> None:
    """A peer may say anything."""
    one = Carried("data", "lamp.c", "alice", 2, "store", 1, b"", 0, 0, None, limit=limit)
    assert not gives_way(one, other) or limit in LIMITS
