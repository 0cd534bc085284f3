"""Peers as processes of their own, with data directories, to be killed, held and started again.

Law of this file: no child outlives the test.  Every child asks the kernel to be killed when its
parent ends (`setpriv --pdeathsig`, where there is one) and watches the pipe to it; `end` kills
what is left, held ones too, and waits until it is gone.  A peer that ends without being killed by
us is a failure (`check_alive`).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parent.parent.parent
START_S = 60.0
"""Until a peer serves: 16 interpreters share two cores."""
POLL_S = 0.05


@dataclass
class PeerProcess:
    """One peer: where it lives, and its process while it has one."""

    number: int
    folder: Path
    address: str = ""
    id: int = 0
    process: asyncio.subprocess.Process | None = None
    host: str = "127.0.0.1"
    within: tuple[str, ...] = ()
    """The command that runs it in another network, if any."""

    async def start(self, join: Sequence[str], space: Path) -> None:
        """Start it and wait until it says that it serves; raises `AssertionError`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [*self.within, *tied_to_us(), sys.executable, "-m", "meteor", "peer", "--json"]
        command += ["--listen", self.address or f"{self.host}:0", "--space", str(space)]
        command += ["--data-dir", str(self.folder / "data"), "--until-stdin-closes"]
        command += [word for address in join for word in ("--join", address)]
        if self.within:
            command.append("--insecure")  # the network was made for this and has nobody else in it
        if join:
            command.append("--found-if-alone")
        with (self.folder / "stderr.txt").open("ab") as words:
            self.process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, process_group=0, stderr=words,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
        assert self.process.stdout is not None
        try:
            line = await asyncio.wait_for(self.process.stdout.readline(), START_S)
        except TimeoutError:
            line = b""
        assert line, f"peer {self.number} does not serve:\n{self.last_words()}"
        said = json.loads(line)
        self.address, self.id = said["address"], int(said["id"], 16)

    def signal(self, number: int) -> None:
        """Send a signal to its whole group."""
        assert self.process is not None
        os.killpg(self.process.pid, number)

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        await self.wait()

    async def wait(self) -> None:
        """Until its process is gone."""
        if self.process is not None:
            await self.process.wait()
            self.process = None

    def last_words(self) -> str:
        """The end of what it said on standard error."""
        path = self.folder / "stderr.txt"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""


@dataclass
class PeerProcesses:
    """A ring of processes: `async with PeerProcesses(16, folder, space_toml) as ring`."""

    count: int
    folder: Path
    space_toml: str
    peers: list[PeerProcess] = field(default_factory=list)
    held: set[int] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.end()

    async def start(self) -> None:
        """The founder, then the others, four at a time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._space.write_text(self.space_toml)
        if not self.peers:
            self.peers = [PeerProcess(at, self.folder / f"{at:02}") for at in range(self.count)]
        first = self.peers[0]
        await first.start([], self._space)
        for at in range(1, self.count, 4):
            await asyncio.gather(
                *(peer.start([first.address], self._space) for peer in self.peers[at : at + 4])
            )

    @property
    def _space(self) -> Path:
        return self.folder / "space.toml"

    @property
    def living(self) -> list[PeerProcess]:
        """Those with a process, held or not."""
        return [peer for peer in self.peers if peer.process is not None]

    def in_ring_order(self) -> list[PeerProcess]:
        """By identifier."""
        return sorted(self.peers, key=lambda peer: peer.id)

    async def kill(self, peers: Iterable[PeerProcess]) -> None:
        """SIGKILL for all of them at once."""
        victims = list(peers)
        for peer in victims:
            peer.signal(signal.SIGKILL)
        for peer in victims:
            await peer.wait()

    def hold(self, peers: Iterable[PeerProcess]) -> None:
        """SIGSTOP: they hear and say nothing, and their sockets stay open."""
        for peer in peers:
            peer.signal(signal.SIGSTOP)
            self.held.add(peer.number)

    def go_on(self) -> None:
        """SIGCONT for whoever is held."""
        for number in sorted(self.held):
            self.peers[number].signal(signal.SIGCONT)
        self.held.clear()

    async def restart(self, peers: Iterable[PeerProcess]) -> None:
        """Start dead ones again, all at once, in the order given, each under its old address."""
        again = list(peers)
        others = [peer.address for peer in self.living][:3] or [p.address for p in self.peers]
        await asyncio.gather(
            *(peer.start([a for a in others if a != peer.address], self._space) for peer in again)
        )

    def check_alive(self) -> None:
        """Nobody ended by itself."""
        for peer in self.living:
            assert peer.process is not None
            assert peer.process.returncode is None, (
                f"peer {peer.number} ended with {peer.process.returncode}:\n{peer.last_words()}"
            )

    async def end(self) -> None:
        """Kill whoever is left and wait until it is gone."""
        for peer in self.living:
            try:
                peer.signal(signal.SIGKILL)  # held ones too: it cannot be held back
            except ProcessLookupError:
                continue
        for peer in self.living:
            await peer.wait()


def tied_to_us() -> list[str]:
    """The words before a command that let it be killed when we end."""
    tool = shutil.which("setpriv")
    return [] if tool is None else [tool, "--pdeathsig", "KILL"]


async def until(
    reached: Callable[[], Awaitable[bool]], seconds: float, what: str | Callable[[], str]
) -> None:
    """Ask again until it is so; raises `AssertionError` naming `what` when time is over."""
    end_s = time.monotonic() + seconds
    while not await reached():
        named = what if isinstance(what, str) else what()
        assert time.monotonic() < end_s, f"not within {seconds:g} s: {named}"
        await asyncio.sleep(POLL_S)
