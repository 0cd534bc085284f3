"""Traffic at rest: peers with their profiles and copies, and nobody who asks anything.

Every peer is the primary of as many profiles, one in twenty of them wide; fingers, successor lists,
copies and comparisons are kept up for ten virtual minutes, under the `lan` preset.  Bytes are those
of frames as the codec writes them.  Every figure is one JSON line; nothing is asserted.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import random
from bisect import bisect_left
from typing import NamedTuple

import pytest

from arms import Profile
from chord import ChordConfig
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document
from meteor.wire.operations import Carried
from meteor.wire.record_id import make_id
from sim import Kernel, Overlay
from squid import Box
from tests.benchmarks.measuring import report
from tests.counting_network import CountingNetwork
from tests.meteor.building import SPACE, draw_data

PEERS = int(os.environ.get("AT_REST_PEERS", "16"))
PROFILES = int(os.environ.get("AT_REST_PROFILES", "10000"))
SETTLE_S, MEASURED_S = 120.0, 600.0
COPIES = 3
WIDE_SHARE = 20
TTL_MS = 86_400_000

CURVE, BITS = SPACE.curve, 160

pytestmark = pytest.mark.benchmark


class Drawn(NamedTuple):
    """One record, as a store would leave it with every holder."""

    lowest: int
    """The lowest index at which it lives."""
    carried: Carried
    box: Box
    profile: Profile


def drawn_record(drawn: random.Random, number: int) -> Drawn:
    """A reading, or a range of them."""
    values = draw_data(drawn)
    text = " ".join(f'{name}="{value}"' for name, value in values.items() if name == "type")
    if number % WIDE_SHARE:
        text += f" temperature={drawn.uniform(-40, 125):.6f} humidity={drawn.randrange(101)}"
    else:
        low, least = drawn.uniform(-40, 100), drawn.randrange(70)
        text += f" temperature={low:.6f}..{low + 20:.6f} humidity={least}..{least + 30}"
    profile = Profile.parse(text, SPACE)
    box = SPACE.box(profile.subject_terms(SPACE))
    lowest = CURVE.encode(box.low) if box.is_point else CURVE.next_match(box, 0)
    assert lowest is not None
    blob = encode_document(Document("store", pack_profile(profile), drawn.randbytes(64)))
    stem = f"{drawn.getrandbits(128):026x}"[:26]
    full_id = make_id(stem, box, CURVE)
    carried = Carried("data", full_id, "", 1, "store", TTL_MS, blob, 0, 0, None)
    return Drawn(lowest, carried, box, profile)


async def fill(overlay: Overlay, records: list[Drawn]) -> int:
    """Put every record where its holders have it: as many stores would, in a fraction of the
    time.  Returns how many copies of records that made."""
    ring = sorted(overlay.peers, key=lambda peer: peer.contact.id)
    ids = [peer.contact.id >> BITS - CURVE.index_bits for peer in ring]
    shares: list[list[Drawn]] = [[] for _ in ring]
    for one in records:
        owners = {bisect_left(ids, one.lowest) % len(ring)}
        if not one.box.is_point:
            for number, peer in enumerate(ring):
                if any(CURVE.has_match(one.box, *part) for part in peer.core.holdings.held):
                    owners.add(number)
        for holder in {(owner + more) % len(ring) for owner in owners for more in range(COPIES)}:
            shares[holder].append(one)
    expires_ms = int(overlay.wall_clock() * 1000) + TTL_MS
    for peer, share in zip(ring, shares, strict=True):
        for at in range(0, len(share), 1_000):
            page = share[at : at + 1_000]
            some = [dataclasses.replace(one.carried, ttl_ms=expires_ms) for one in page]
            for one, written in zip(page, await peer.core.shelf.write(some), strict=True):
                peer.core.shelf.show(written, one.profile)
    return sum(map(len, shares))


def test_traffic_at_rest() -> None:
    faulthandler.cancel_dump_traceback_later()  # half a million records take minutes to put there
    drawn = random.Random(1)
    records = sorted(
        (drawn_record(drawn, number) for number in range(PEERS * PROFILES)),
        key=lambda one: one.lowest,
    )
    last = [records[(number + 1) * PROFILES - 1].lowest for number in range(PEERS)]
    config = ChordConfig.lan()
    report("preset lan", **dataclasses.asdict(config))
    network = CountingNetwork(Kernel(1))
    ids = [index << BITS - CURVE.index_bits for index in last]
    overlay = Overlay(PEERS, space=SPACE, network=network, config=config, ids=ids)
    overlay.run_for(SETTLE_S)
    kept = overlay.run(fill(overlay, records))
    overlay.run_for(SETTLE_S)
    network.reset()
    overlay.run_for(MEASURED_S)
    each = {
        name: round(size / PEERS / MEASURED_S, 1)
        for name, size in sorted(network.by_type.items(), key=lambda item: -item[1])
    }
    report(
        "traffic at rest, bytes a second and peer",
        peers=PEERS,
        profiles_a_peer=PROFILES,
        records_kept_a_peer=round(kept / PEERS),
        virtual_s=MEASURED_S,
        total=round(network.sent_bytes / PEERS / MEASURED_S, 1),
        by_type=each,
    )
