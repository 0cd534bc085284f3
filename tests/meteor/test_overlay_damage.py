"""Records that one holder of three loses come back from the others; what was deleted does not."""

from __future__ import annotations

import random

import pytest

from arms import Profile
from chord import Contact
from meteor import Client
from meteor.keeping.placement import GONE, Key, key_of
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Amend, Document, Post
from sim import Overlay, SimPeer, SimRuntime
from squid import intersect
from tests.meteor.building import SPACE, draw_data

CURVE = SPACE.curve
EVERYTHING = ((0, CURVE.size - 1),)
COUNT = 120
STORED = {f"d{number}" for number in range(COUNT)}
DELETED = {f"d{n}" for n in range(COUNT) if n % 7 and 40 <= n % 90 <= 50}
ALL = "temperature=-40..125"


async def damage(peer: SimPeer, keys: list[Key]) -> None:
    """Lose records from memory and journal, as if pages of the file had rotted."""
    shelf = peer.core.shelf
    for key in keys:
        shelf.store.remove(*key)
    await shelf.drop(keys)


def keys_of(peer: SimPeer) -> list[Key]:
    section = peer.core.shelf.table.fingerprints.section(EVERYTHING)
    assert section.learn(10**6)
    placed = [one for span in section.spans for _, one in section.entries(span)]
    return sorted(key_of(one.carried) for one in placed)


def holders(overlay: Overlay) -> dict[Key, list[int]]:
    """Which peers show each record."""
    found: dict[Key, list[int]] = {}
    for number, peer in enumerate(overlay.peers):
        for key in keys_of(peer):
            found.setdefault(key, []).append(number)
    return found


async def live_a_little(client: Client, drawn: random.Random) -> None:
    """Store, move, renew and delete: what counts is known afterwards."""
    ids = []
    for number in range(COUNT):
        values = {**draw_data(drawn), "temperature": number % 90}
        receipt = await client.store(values, b"x" * 50, id=f"d{number}", ttl=600)
        ids.append(receipt.id)
    for low in range(0, 90, 15):
        await client.store(f"temperature={low}..{low + 30} humidity=10..90", id=f"w{low}")
    for number in range(0, COUNT, 7):
        values = {**draw_data(drawn), "temperature": 100 + number % 20}
        await client.replace(ids[number], values, data=b"moved")
    for number in range(1, COUNT, 7):
        await client.renew(ids[number], ttl=3_000)
    await client.delete_data("temperature=40..50")


def differences(overlay: Overlay) -> int:
    """How many states copies have that their primaries have not, or the other way round."""
    seen = 0
    for peer in overlay.peers:
        entropy = peer.core._entropy
        for target in entropy._source.targets():
            seen += overlay.run(entropy.compare(target.copy, target.intervals)).seen
    return seen


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_damage_heals_from_the_other_holders(seed: int) -> None:
    overlay, drawn = Overlay(peers=6, space=SPACE, seed=seed), random.Random(seed)
    client = overlay.client()
    overlay.run(live_a_little(client, drawn))
    overlay.run_for(20.0)
    assert differences(overlay) == 0
    before = holders(overlay)
    assert {len(some) for some in before.values()} >= {3}
    stones = {key for peer in overlay.peers for key in keys_of(peer) if _kind(peer, key) == GONE}
    lost: dict[Key, int] = {}
    for number, peer in enumerate(overlay.peers):
        mine = [key for key in keys_of(peer) if drawn.random() < 0.3 and key not in lost]
        lost.update(dict.fromkeys(mine, number))
        overlay.run(damage(peer, mine))
    assert len(lost) > 30
    assert stones & lost.keys()
    overlay.run_for(40.0)
    assert holders(overlay) == before
    assert differences(overlay) == 0
    for peer in overlay.peers:
        assert not any(peer.core.shelf.store.get(*key) for key in stones)
    found = {match.id.partition(".")[0] for match in overlay.run(client.retrieve(ALL).all())}
    assert found & STORED == STORED - DELETED


def _kind(peer: SimPeer, key: Key) -> str:
    placed = peer.core.shelf.find(key)
    return "" if placed is None else placed.carried.kind


def test_views_say_what_is_compared_with_whom() -> None:
    overlay = Overlay(peers=5, space=SPACE, seed=3)
    overlay.run_for(10.0)
    for peer in overlay.peers:
        for target in peer.core._entropy._source.targets():
            found = overlay.run(peer.core._entropy.compare(target.copy, target.intervals))
            assert found.whole
            assert intersect(target.intervals, peer.core.holdings.held) == target.intervals


def test_a_post_that_is_tried_again_keeps_its_renewal() -> None:
    """A client that had no whole answer posts the same version once more, maybe after it renewed
    it: its primary must not fall behind the copies."""
    overlay = Overlay(peers=5, space=SPACE, seed=4)
    overlay.run_for(5.0)
    client = SimRuntime(overlay.kernel, overlay.network, Contact(9, ""))
    profile = pack_profile(Profile.parse("type=a temperature=5 humidity=7", SPACE))
    post = Post(1, encode_document(Document("store", profile, b"x")), "x", 3, 60.0, 5.0)
    entry = overlay.peers[0].contact
    full_id = overlay.run(client.call(entry, post, 5.0)).id
    overlay.run(client.call(entry, Amend(2, "renew", full_id, 77, 600.0, 5.0), 5.0))
    overlay.run(client.call(entry, post, 5.0))
    found = [peer.core.shelf.find(("", "x")) for peer in overlay.peers]
    assert [placed.carried.renewed for placed in found if placed is not None] == [77] * 3
    assert differences(overlay) == 0
