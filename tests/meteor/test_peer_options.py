"""What a peer may be told: presets, and that one that comes back elsewhere is told the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import meteor
from chord import ChordConfig, RelocationConfig
from meteor.copies.config import CopiesConfig
from meteor.peer_options import PeerOptions, chosen_config
from sim.overlay import Overlay
from tests.certificates import tls
from tests.meteor.building import SPACE


@pytest.mark.parametrize("name", ["local", "lan", "wan"])
def test_a_preset_chooses_the_rings_numbers(name: Any) -> None:
    assert chosen_config(None, name) == getattr(ChordConfig, name)()
    meteor.Peer(space=SPACE, preset=name)


def test_presets_differ_where_distance_matters() -> None:
    lan, wan = ChordConfig.lan(), ChordConfig.wan()
    assert wan.silence_s > lan.silence_s
    assert wan.call_timeout_s_initial > lan.call_timeout_s_initial
    assert (wan.bits, wan.successor_count) == (lan.bits, lan.successor_count)  # one ring


@pytest.mark.parametrize("name", ["local", "lan", "wan"])
def test_copies_are_waited_for_as_long_as_the_preset_says(name: Any) -> None:
    """A copy is given up, and a lease is over, before the ring names another owner."""
    config = chosen_config(None, name)
    overlay = Overlay(peers=2, space=SPACE, config=config, copies=2)
    kept = overlay.peers[0].core.copies_config
    assert kept.copies == 2
    assert kept.silence_s < kept.lease_s < config.silence_s
    assert kept.lease_s < kept.ask_s_max
    if name == "wan":
        assert kept == CopiesConfig(2, 0, 1.2, 2.0, 0.6, 16.0, 1.0, 6.0, 6.0)
    else:
        assert kept == CopiesConfig(2)


def test_a_preset_that_is_none_or_one_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="preset: 'moon' is none of local, lan, wan"):
        meteor.Peer(space=SPACE, preset="moon")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give one"):
        meteor.Peer(space=SPACE, preset="lan", config=ChordConfig.lan())


async def test_a_peer_that_comes_back_elsewhere_is_told_everything_again(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "space": SPACE,
        "data_dir": tmp_path,
        "copies": 2,
        "config": ChordConfig.wan(),
        "moves": RelocationConfig(),
        "tls": tls("127.0.0.1"),
        "seed": 5,
    }
    async with meteor.Peer(**given) as peer:
        moved = peer.relocated(77)
        address = peer.address
    wanted = PeerOptions.checked(**peer._options.arguments(id=77, listen=address), preset=None)
    assert moved._options == wanted
    assert (moved._options.copies, moved._options.tls) == (2, given["tls"])
