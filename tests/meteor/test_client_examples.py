"""Every program under docs/examples runs, as the process that its reader would start."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import meteor
from tests.meteor.building import SPACE

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"

pytestmark = [pytest.mark.sockets, pytest.mark.processes]


@pytest.fixture(scope="module")
def peer() -> Iterator[meteor.sync.Peer]:
    with meteor.sync.Peer(space=SPACE) as peer:
        yield peer


@pytest.fixture
def client(peer: meteor.sync.Peer) -> Iterator[meteor.sync.Client]:
    with meteor.sync.connect(peer.address) as client:
        yield client
        client.delete_data("temperature=*", everywhere=True)


@contextmanager
def running(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """An example as a process; interrupted at the end, when it must not complain."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            said, complained = process.communicate(timeout=30)
    assert complained == "", said
    assert process.returncode in {0, 130}


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip()


def test_every_example_is_run_here() -> None:
    named = {
        "sensor.py", "actuator.py", "alarm.py", "report.py", "asgi_peer.py", "sensor.sh",
    }  # fmt: skip
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == named
    lines = (EXAMPLES / "sensor.py").read_text().splitlines()
    assert len([line for line in lines if line]) <= 6


def test_a_sensor_in_six_lines(peer: meteor.sync.Peer, client: meteor.sync.Client) -> None:
    with client.notify_data("type=temperature") as readings:
        done = subprocess.run(
            [sys.executable, "-W", "error", str(EXAMPLES / "sensor.py"), peer.address],
            input="21.5\n22\n", text=True, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        told = sorted(str(readings.recv(10).profile) for _ in range(2))
    assert told == ["type=temperature temperature=21.5", "type=temperature temperature=22.0"]


def test_a_sensor_with_only_curl(peer: meteor.sync.Peer, client: meteor.sync.Client) -> None:
    assert shutil.which("curl") is not None
    done = subprocess.run(
        [str(EXAMPLES / "sensor.sh"), peer.address],
        input="21.5\n-3\n", text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    matches = client.retrieve("type=temperature").all()
    assert sorted(str(match.profile) for match in matches) == [
        "type=temperature temperature=-3",
        "type=temperature temperature=21.5",
    ]
    assert all(match.text.startswith("read at ") for match in matches)


def test_an_actuator_works_only_while_somebody_is_interested(
    peer: meteor.sync.Peer, client: meteor.sync.Client
) -> None:
    with running("actuator.py", peer.address) as lamp:
        assert line_of(lamp) == "off"
        for _ in range(2):
            with client.notify_data("type=lamp temperature=0..100", ttl=60) as interest:
                assert line_of(lamp) == "on"
                first = interest.recv(timeout=30).json()["number"]
                assert interest.recv(timeout=30).json()["number"] >= first
            assert line_of(lamp) == "off"
            client.delete_data("type=lamp")
            assert client.retrieve("type=lamp").all() == []


def test_an_alarm_watcher_outlives_its_peer(client: meteor.sync.Client) -> None:
    """What was there comes first, then what comes, also by way of another peer."""
    with (
        meteor.sync.Peer(space=SPACE) as first,
        meteor.sync.Peer(join=[first.address]) as second,
        meteor.sync.connect(second.address) as sensor,
    ):
        sensor.store("type=oven temperature=95", "the oven")
        command = [sys.executable, "-W", "error", str(EXAMPLES / "alarm.py")]
        with subprocess.Popen(
            [*command, first.address, second.address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as watcher:  # fmt: skip
            assert line_of(watcher) == "watching"
            assert line_of(watcher) == "type=oven temperature=95: the oven"
            sensor.store("type=oven temperature=20", "cold")
            sensor.store("type=roof temperature=81", "the roof")
            assert line_of(watcher) == "type=roof temperature=81: the roof"
            first.leave()
            sensor.store("type=door temperature=90", "the door")
            assert line_of(watcher) == "type=door temperature=90: the door"
            watcher.send_signal(signal.SIGINT)
            _, complained = watcher.communicate(timeout=30)
        assert watcher.returncode == 130
        assert complained.splitlines()[-1] == f"at {second.address} now"
        assert "trouble: " in complained


def test_a_script_without_an_event_loop(peer: meteor.sync.Peer) -> None:
    done = subprocess.run(
        [
            sys.executable, "-W", "error", str(EXAMPLES / "report.py"), peer.address,
            "type=temp* temperature>=36 humidity<50",
        ],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "at 21:00 type=temperature temperature=36 humidity=48",
        "at 22:00 type=temperature temperature=37 humidity=46",
        "at 23:00 type=temperature temperature=38 humidity=44",
    ]


# -- a peer in an ASGI application -----------------------------------------------------------


def asgi_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("asgi_peer", EXAMPLES / "asgi_peer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Server:
    """As much of an ASGI server as the protocol's text asks for."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._state: dict[str, Any] = {}
        self._to: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[dict[str, Any]]:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self._state}
        life = asyncio.create_task(self._application(scope, self._to.get, self._said.put))
        self._to.put_nowait({"type": "lifespan.startup"})
        started = await self._said.get()
        yield started
        if started["type"] == "lifespan.startup.complete":
            self._to.put_nowait({"type": "lifespan.shutdown"})
            assert (await self._said.get())["type"] == "lifespan.shutdown.complete"
        await life

    async def get(self, path: str) -> tuple[int, Any]:
        said: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "state": dict(self._state)}
        await self._application(scope, self._to.get, send)
        return said[0]["status"], json.loads(said[1]["body"])

    @property
    def peer(self) -> meteor.Peer:
        peer: meteor.Peer = self._state["peer"]
        return peer


async def test_a_peer_in_the_lifespan_of_an_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METEOR_JOIN", raising=False)
    module = asgi_module()
    one, other = Server(module.application), Server(module.application)
    async with one.lifespan() as started:
        assert started["type"] == "lifespan.startup.complete"
        monkeypatch.setenv("METEOR_JOIN", one.peer.address)
        async with other.lifespan():
            assert len((await one.peer.ring()).peers) == 2
            await one.peer.store("type=oven temperature=99")
            assert await other.get("/hot") == (200, {"found": ["type=oven temperature=99"]})
            assert await other.get("/") == (404, {"error": "try /hot"})
        assert await one.get("/hot") == (200, {"found": ["type=oven temperature=99"]})
        assert len((await one.peer.ring()).peers) == 1


async def test_an_application_whose_peer_cannot_start_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(os.environ, "METEOR_JOIN", "127.0.0.1:1")
    async with Server(asgi_module().application).lifespan() as started:
        assert started["type"] == "lifespan.startup.failed"
        assert "127.0.0.1:1" in started["message"]
