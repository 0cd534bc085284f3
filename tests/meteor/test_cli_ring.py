"""`meteor ring` for people, and `meteor watch` when its peer dies."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meteor
from chord import Contact
from meteor.cli import exit_codes, main
from meteor.cli.ring_table import arcs_of, table, tree
from tests.meteor.ring_beside import RingBeside

BITS = 16


def picture(loads: dict[int, int], bits: int = BITS) -> meteor.RingPicture:
    """A ring of peers at these ids with this much data."""
    ids = sorted(loads)
    peers = tuple(
        meteor.Neighbour(
            Contact(id, f"10.0.0.{number}:7400"), (ids[number - 1] + 1) % (1 << bits), loads[id],
            answers=loads[id] >= 0, data=loads[id], interests=0, copies=3,
        )
        for number, id in enumerate(ids)
    )  # fmt: skip
    return meteor.RingPicture(peers, closed=True, id_bits=bits)


rings = st.dictionaries(st.integers(0, (1 << BITS) - 1), st.integers(-1, 10**6), min_size=1)


@given(rings)
def test_every_peer_stands_once_in_the_tree_and_loads_add_up(loads: dict[int, int]) -> None:
    lines = [text for text, _ in tree(picture(loads))]
    leaves = [line for line in lines if "10.0.0." in line]
    assert len(leaves) == len(loads)
    known = sum(max(load, 0) for load in loads.values())
    assert lines[0] == f"ring  {_peers(len(loads))}, {known:,} records"
    assert len(list(table(picture(loads)))) == len(loads) + 1
    assert all(len(line) < 120 for line in lines)


def _peers(count: int) -> str:
    return f"{count} peer{'s' if count != 1 else ''}"


@given(rings)
def test_shares_of_the_circle_add_up_to_one(loads: dict[int, int]) -> None:
    assert sum(arc.share for arc in arcs_of(picture(loads))) == pytest.approx(1)


def test_the_tree_shows_branches_bars_and_who_carries_too_much() -> None:
    ring = picture({0x1000: 10, 0x2000: 10, 0x3000: 10, 0x9000: 10, 0xA000: 960, 0xF000: -1})
    shown = list(tree(ring))
    assert [text.rstrip() for text, _ in shown] == [
        "ring  6 peers, 1,000 records",
        "├─ 0000–7fff  3 peers, 30 records",
        "│  ├─ 1000  10.0.0.0:7400           12.5%  ▎                           10  3 copies",
        "│  ├─ 2000  10.0.0.1:7400            6.2%  ▎                           10  3 copies",
        "│  └─ 3000  10.0.0.2:7400            6.2%  ▎                           10  3 copies",
        "└─ 8000–ffff  3 peers, 970 records",
        "   ├─ 9000  10.0.0.3:7400           37.5%  ▎                           10  3 copies",
        "   ├─ a000  10.0.0.4:7400            6.2%  ████████████████████       960  3 copies",
        "   └─ f000  10.0.0.5:7400           31.2%  does not answer",
    ]
    assert [mark for _, mark in shown if mark == "alarm"] == ["alarm", "alarm"]


@pytest.mark.sockets
def test_a_ring_is_shown_as_table_tree_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    with RingBeside(2) as ring:
        ask = ["ring", "--peer", ring.addresses[0]]
        for form, wanted in ((["--tree"], "2 peers, 0 records"), ([], "copies")):
            assert main([*ask, *form]) == exit_codes.DONE
            shown = capsys.readouterr().out
            assert wanted in shown
            assert "\x1b" not in shown  # colours are for terminals
            assert shown.endswith("2 peers, the ring is closed\n")
            assert all(address in shown for address in ring.addresses)
        assert main([*ask, "--json"]) == exit_codes.DONE
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["address"] for row in rows} == set(ring.addresses)


@pytest.mark.sockets
def test_a_watch_goes_to_the_next_peer_when_its_own_dies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with RingBeside(3) as ring:
        first, second, third = ring.peers
        arguments = ["watch", "type=alarm", "--count", "2", "--timeout", "50", "--json",
                     "--peer", second.address, "--peer", third.address]  # fmt: skip

        async def happen() -> None:
            watched = await first.notify_interest("type=alarm temperature=* humidity=*")
            await watched.wait_active(timeout=20)
            await first.store("type=alarm temperature=1", b"one")
            await second.crash()
            await first.store("type=alarm temperature=2", b"two", timeout=20)

        happening = threading.Thread(target=lambda: ring.do(happen()))
        happening.start()
        code = main(arguments)
        happening.join()
    shown = capsys.readouterr()
    assert code == exit_codes.DONE, shown.err
    assert sorted(json.loads(line)["data"] for line in shown.out.splitlines()) == ["one", "two"]
    assert "the peer is gone" in shown.err
    assert f"watching again, by {third.address}" in shown.err
