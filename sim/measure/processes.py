"""A ring of real peer processes on loopback that grows while it is measured.

Law of this file: a child never outlives its parent.  Each watches the pipe to it, and stands in a
process group of its own, so that Ctrl-C reaches the parent alone, which ends the children.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

START_S: Final = 60.0
"""Until a process serves: a dozen interpreters that start at once share two cores."""
TOGETHER: Final = 8
"""Processes that start at once."""


class PeerDied(Exception):
    """A peer's process ended or did not serve in time; the text holds its last words."""


class PeerProcesses:
    """Peers in processes of their own: `async with PeerProcesses(space_toml) as ring`.

    Identifiers go by hash, as the report's do: an empty ring has no load to follow."""

    def __init__(self, space_toml: str) -> None:
        self._space_toml = space_toml
        self._children: list[asyncio.subprocess.Process] = []
        self._folder = tempfile.TemporaryDirectory(prefix="meteor-measure-")
        self.addresses: list[str] = []

    async def __aenter__(self) -> Self:
        folder = Path(self._folder.name)
        (folder / "space.toml").write_text(self._space_toml)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            if child.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        for child in self._children:
            await child.wait()
        self._folder.cleanup()

    async def grow(self, count: int) -> None:
        """Start peers until there are `count`; raises `PeerDied`."""
        if not self.addresses and count:
            self.addresses.append(await self._child([]))
        while len(self.addresses) < count:
            batch = min(TOGETHER, count - len(self.addresses))
            join = self.addresses[:3]
            self.addresses += await asyncio.gather(*(self._child(join) for _ in range(batch)))

    def cpu_s(self) -> float | None:
        """Processor time of all children's event loops so far; None where the system does not
        say."""
        total_ns = 0
        for child in self._children:
            path = Path(f"/proc/{child.pid}/schedstat")
            try:
                total_ns += int(path.read_text().split()[0])
            except (OSError, ValueError):
                return None
        return total_ns / 1e9

    async def _child(self, join: list[str]) -> str:
        """Start one peer and wait until it serves; its address."""
        folder = Path(self._folder.name)
        command = [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0", "--json"]
        command += ["--space", str(folder / "space.toml"), "--placement", "hash"]
        command += ["--until-stdin-closes", *(word for at in join for word in ("--join", at))]
        words = folder / f"{len(self._children)}.txt"
        with words.open("wb") as error_stream:
            child = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=error_stream, process_group=0,
            )  # fmt: skip
        self._children.append(child)
        assert child.stdout is not None
        try:
            async with asyncio.timeout(START_S):
                line = await child.stdout.readline()
        except TimeoutError:
            line = b""
        if not line:
            raise PeerDied(f"a peer does not serve:\n{words.read_text(errors='replace')[-2000:]}")
        return str(json.loads(line)["address"])
