"""The demo's peers: processes of their own that end when the demo does, however it ends.

Law of this file: a child never outlives its parent.  Each child watches the pipe to its parent
(`--until-stdin-closes`), so that it ends also when the parent is killed; a parent that can still
act kills its children outright.  Children stand in process groups of their own: Ctrl-C reaches
the parent alone, which decides.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final

START_TIMEOUT_S: Final = 40.0
"""Until every peer says that it is ready; sixteen interpreters start in 4 s on two cores."""
AT_ONCE: Final = 2 * (os.cpu_count() or 1)
"""Peers that start at a time: all at once, none would be ready until nearly all of them are."""
CURE: Final = (
    "on a busy or small machine give it longer, or fewer peers: --time-limit 300 --peers 4"
)


class PeerFailed(Exception):
    """A peer's process ended or stayed silent; the text holds its last words."""


class Swarm:
    """Peers on loopback, as many as asked for: `async with Swarm(16, space) as addresses`."""

    def __init__(
        self,
        count: int,
        space_toml: str,
        started: Callable[[], None] = lambda: None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        self._count = count
        self._space_toml = space_toml
        self._started = started
        self._timeout_s = timeout_s
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._children: list[asyncio.subprocess.Process] = []
        self._folder = tempfile.TemporaryDirectory(prefix="meteor-demo-")
        self._words: IO[bytes] | None = None

    async def __aenter__(self) -> list[str]:
        """Start the founder, then the others at once; the addresses of the peers.

        Raises `PeerFailed`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._start()
        except TimeoutError:
            last_words = self._last_words()
            await self._end()
            raise PeerFailed(
                f"not every peer was ready after {self._timeout_s:g} s; {CURE}{last_words}"
            ) from None
        except BaseException:
            await self._end()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end()

    async def _start(self) -> list[str]:
        folder = Path(self._folder.name)
        (folder / "space.toml").write_text(self._space_toml)
        self._words = (folder / "stderr.txt").open("wb")
        first = await self._child([])
        others = [asyncio.create_task(self._in_turn([first])) for _ in range(self._count - 1)]
        try:
            return [first, *await asyncio.gather(*others)]
        finally:
            for task in others:
                task.cancel()

    async def _in_turn(self, join: list[str]) -> str:
        """Start one peer when it is its turn; its address."""
        async with self._turns:
            return await self._child(join)

    async def _child(self, join: list[str]) -> str:
        """Start one peer and wait until it serves; its address."""
        command = [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0"]
        command += ["--space", str(Path(self._folder.name) / "space.toml"), "--json"]
        command += ["--until-stdin-closes", *(word for at in join for word in ("--join", at))]
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._words,
            process_group=0,
        )
        self._children.append(child)
        assert child.stdout is not None
        line = await child.stdout.readline()
        if not line:
            status = await child.wait()
            raise PeerFailed(f"a peer ended with {status} before it served{self._last_words()}")
        self._started()
        return str(json.loads(line)["address"])

    def _last_words(self) -> str:
        path = Path(self._folder.name) / "stderr.txt"
        words = path.read_text(errors="replace").strip() if path.exists() else ""
        return f":\n{words[-2000:]}" if words else ""

    async def _end(self) -> None:
        """Kill every child and wait until it is gone: what they stored was for this run only."""
        for child in self._children:
            if child.returncode is None:
                # Not `child.kill()`: that polls, and takes the exit status away from asyncio.
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        if self._words is not None:
            self._words.close()
        self._folder.cleanup()
        for child in self._children:
            await child.wait()
