"""Event logs: what a peer writes of a post, whole files only, a bounded number of them."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import meteor
from meteor.links.asyncio_event_files import SEGMENT_BYTES, EventFiles, Segments
from meteor.rendezvous.event_log import axes_of
from sim import Overlay
from squid import Box, HilbertCurve

SPACE = meteor.KeywordSpace("log", [meteor.Word("type"), meteor.Number("temperature", -40, 125)])


def read(directory: Path) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for path in sorted(directory.glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def test_what_many_peers_write_of_one_query_ties_together() -> None:
    overlay = Overlay(peers=0, space=SPACE, seed=3)
    lines: list[bytes] = []
    overlay.events = lines.append
    for _ in range(12):
        overlay.run(overlay.add_peer())
    client = overlay.client()
    for number in range(60):
        word = "abcdefghijklmnopqrst"[number % 20]
        overlay.run(client.store(f"type={word} temperature={number}", b""))
    lines.clear()
    found = overlay.run(client.retrieve("type=* temperature=0..50").all())
    assert len(found) == 51
    events = [json.loads(line) for line in lines]
    (post,) = [event for event in events if event["event"] == "post"]
    (reply,) = [event for event in events if event["event"] == "reply"]
    assert post["action"] == "retrieve"
    assert post["axes"] == "*<"
    assert post["peer"] == reply["peer"] == f"{overlay.peers[0].contact.id:x}"
    matched = [event for event in events if event["event"] == "match"]
    routes = [event for event in events if event["event"] == "route"]
    assert {event["operation"] for event in (*matched, *routes)} == {post["operation"]}
    assert sum(event["matches"] for event in matched) == reply["matches"] == 51
    assert len({event["peer"] for event in matched}) == reply["peers"]
    assert max(event["hops"] for event in matched) == reply["hops"]
    handed = Counter(event["to"] for event in routes)
    assert {event["peer"] for event in matched} <= {*handed, post["peer"]}


def test_load_is_written_from_time_to_time() -> None:
    overlay = Overlay(peers=0, space=SPACE, seed=3)
    lines: list[bytes] = []
    overlay.events = lines.append
    for _ in range(3):
        overlay.run(overlay.add_peer())
    overlay.run(overlay.client().store("type=a temperature=1", b""))
    overlay.run_for(10.0)
    loads = [json.loads(line) for line in lines if b'"load"' in line]
    newest = {event["peer"]: event for event in loads}
    assert len(newest) == 3
    assert sum(event["data"] for event in newest.values()) == 1
    assert sum(event["arc"] for event in newest.values()) == pytest.approx(1.0)


def test_axes_say_cell_range_and_whole() -> None:
    curve = HilbertCurve(3, 4)
    assert axes_of(Box.of([(3, 3), (0, 15), (0, 14)]), curve) == "=*<"


def test_a_peer_writes_its_log_and_every_file_is_whole(tmp_path: Path) -> None:
    async def post() -> None:
        async with meteor.Peer(space=SPACE, event_log=tmp_path) as peer:
            await peer.store("type=a temperature=1", b"...")
            assert len(await peer.retrieve("type=a").all()) == 1

    asyncio.run(post())
    assert not list(tmp_path.glob("*.part"))
    events = read(tmp_path)
    actions = [event["action"] for event in events if event["event"] == "post"]
    assert list(dict.fromkeys(actions)) == ["store", "retrieve"]  # asked again where this is held
    assert {event["event"] for event in events} == {"post", "match", "reply", "load"}


async def test_no_peer_writes_without_being_told() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        assert peer.core.router._observer is None


def test_segments_become_whole_when_long_and_the_oldest_go(tmp_path: Path) -> None:
    segments = Segments(tmp_path, "peer", files_max=3)
    segments.prepare()
    line = b"x" * 1023 + b"\n"
    for _ in range(5):
        segments.append([line] * (SEGMENT_BYTES // 1024))
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "peer-00000002.jsonl", "peer-00000003.jsonl", "peer-00000004.jsonl",
    ]  # fmt: skip
    segments.append([line])
    assert (tmp_path / "peer.part").exists()
    again = Segments(tmp_path, "peer", files_max=3)
    again.prepare()
    assert (tmp_path / "peer-00000005.jsonl").read_bytes() == line
    assert not (tmp_path / "peer.part").exists()


async def test_what_the_disk_does_not_take_is_dropped_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meteor.links.asyncio_event_files.WAITING_BYTES_MAX", 10)
    files = EventFiles(tmp_path, "peer")
    await files.open()
    for _ in range(4):
        files.put(b"12345\n")
    await files.close()
    assert "3 events were dropped" in caplog.text
    assert (tmp_path / "peer-00000000.jsonl").read_bytes() == b"12345\n"

    def refuse(self: Segments, lines: list[bytes], *, closing: bool) -> None:
        del self, lines, closing
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Segments, "append", refuse)
    files = EventFiles(tmp_path, "other")
    await files.open()
    files.put(b"12345\n")
    await asyncio.gather(files.close())
    assert "1 events were dropped" in caplog.text


def test_a_disk_that_is_full_for_a_while_leaves_no_half_line(tmp_path: Path) -> None:
    """The next line was written behind it: one that nobody can read, in the middle of a file."""
    segments = Segments(tmp_path, "a", 5)
    segments.prepare()
    lines = [json.dumps({"number": number}).encode() + b"\n" for number in range(1000)]
    segments.append(lines[:10])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1001, before[1]))
        with pytest.raises(OSError, match="too large"):
            segments.append(lines[10:990])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    segments.append(lines[990:], closing=True)
    assert [one["number"] for one in read(tmp_path)] == [*range(10), *range(990, 1000)]


async def test_what_is_written_and_not_whole_yet_is_not_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As the file could not be renamed, its lines were said to be dropped; they came later."""
    files = EventFiles(tmp_path, "peer")
    await files.open()
    in_its_place = tmp_path / "peer-00000000.jsonl"
    in_its_place.mkdir()
    files.put(b"{}\n")
    await files.close()
    assert "not whole yet" in caplog.text
    assert "dropped" not in caplog.text
    in_its_place.rmdir()
    Segments(tmp_path, "peer", 5).prepare()
    assert read(tmp_path) == [{}]


def test_a_file_that_cannot_be_made_whole_takes_no_more_than_others(tmp_path: Path) -> None:
    """It grew for as long as lines came, however few files are to be kept."""
    segments = Segments(tmp_path, "peer", files_max=3)
    segments.prepare()
    in_its_place = tmp_path / "peer-00000000.jsonl"
    in_its_place.mkdir()
    lines = [b"x" * 1023 + b"\n"] * (SEGMENT_BYTES // 1024)
    segments.append(lines)
    for _ in range(5):
        with pytest.raises(OSError, match="peer-00000000"):
            segments.append(lines)
    assert (tmp_path / "peer.part").stat().st_size == SEGMENT_BYTES
    in_its_place.rmdir()
    segments.append(lines)
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_at_least_one_file_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="files_max: 0"):
        EventFiles(tmp_path, "peer", files_max=0)


@pytest.mark.processes
def test_the_command_writes_its_log_when_it_is_stopped(tmp_path: Path) -> None:
    space = tmp_path / "space.toml"
    space.write_text(SPACE.to_toml())
    command = [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0"]
    command += ["--space", str(space), "--event-log", str(tmp_path / "events"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout is not None
        serving = json.loads(peer.stdout.readline())
        peer.terminate()
        assert peer.wait(timeout=60) == 0
    events = read(tmp_path / "events")
    assert {event["event"] for event in events} == {"load"}
    assert {event["peer"] for event in events} == {serving["id"]}
