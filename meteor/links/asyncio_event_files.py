"""Event logs on disk: whole files of JSON lines, a bounded number of them.

Law of this file: a reader never sees half a file.  Lines are gathered in a file of another name,
which is renamed once it is full or `SEGMENT_S` old; the oldest files go, so that a peer keeps at
most `files_max`.  No peer waits for its own log: lines wait in memory, and what is too much for
that, or for the disk, is dropped, counted and said.  Writing is done in the event loop's threads.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

SEGMENT_S: Final = 10.0
"""How long a line waits at most before a reader may see it."""
SEGMENT_BYTES: Final = 1024 * 1024
"""A file that is longer than this is whole."""
FILES_MAX: Final = 256
"""A quarter of a gigabyte a peer at most, or an hour of quiet."""
WAITING_BYTES_MAX: Final = 16 * 1024 * 1024

_log = logging.getLogger("meteor.events")


class Segments:
    """The files of one peer's log: `NAME-00000012.jsonl`, and the one that is being written."""

    def __init__(self, directory: Path, name: str, files_max: int) -> None:
        self._directory, self._name, self._files_max = directory, name, files_max
        self._open = directory / f"{name}.part"
        self._number = 0
        self._began_s = 0.0

    def prepare(self) -> None:
        """Make the directory, and make whole what an earlier life left open."""
        self._directory.mkdir(parents=True, exist_ok=True)
        whole = self._whole()
        self._number = int(whole[-1].stem.rpartition("-")[2]) + 1 if whole else 0
        if self._open.exists():
            self._finish()

    def append(self, lines: list[bytes], *, closing: bool = False) -> None:
        """Write lines; the file becomes whole when it is long or old enough, or on `closing`."""
        if lines:
            if not self._open.exists():
                self._began_s = monotonic()
            elif self._is_long():  # it could not be made whole: it takes no more until it is
                self._finish()
            self._write(lines)
        if self._open.exists() and (
            closing or monotonic() - self._began_s >= SEGMENT_S or self._is_long()
        ):
            try:
                self._finish()
            except OSError as error:  # the lines are written, and become whole with later ones
                _log.warning("events in %s are not whole yet: %s", self._directory, error)

    def _is_long(self) -> bool:
        return self._open.stat().st_size >= SEGMENT_BYTES

    def _write(self, lines: list[bytes]) -> None:
        """All of them, or none: half a line would be the beginning of the next one."""
        before = self._open.stat().st_size if self._open.exists() else 0
        try:
            with self._open.open("ab") as file:
                file.writelines(lines)
        except OSError:
            with suppress(OSError):
                os.truncate(self._open, before)
            raise

    def _finish(self) -> None:
        self._open.rename(self._directory / f"{self._name}-{self._number:08}.jsonl")
        self._number += 1
        for path in self._whole()[: -self._files_max]:
            path.unlink(missing_ok=True)

    def _whole(self) -> list[Path]:
        return sorted(self._directory.glob(f"{self._name}-*.jsonl"))


class EventFiles:
    """The event log of one peer in a directory, which many peers may share.

    `name` tells its files from others'; those of earlier lives stay, and count.  Raises
    `ValueError` for less than one file."""

    def __init__(self, directory: Path, name: str, files_max: int = FILES_MAX) -> None:
        if files_max < 1:
            raise ValueError(f"files_max: {files_max} is not at least 1")
        self._directory = directory
        self._segments = Segments(directory, name, files_max)
        self._lines: list[bytes] = []
        self._waiting_bytes = self._dropped = 0
        self._wake = asyncio.Event()
        self._closing = False
        self._writer: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Make the directory and begin to write; raises `OSError` where that cannot be."""
        await asyncio.to_thread(self._segments.prepare)
        self._writer = asyncio.create_task(self._write_on(), name="event log")

    def put(self, line: bytes) -> None:
        """Take a line; never waits."""
        if self._waiting_bytes + len(line) > WAITING_BYTES_MAX:
            self._dropped += 1
            return
        self._lines.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= SEGMENT_BYTES:
            self._wake.set()

    async def close(self) -> None:
        """Write what waits, and stop."""
        self._closing = True
        self._wake.set()
        if self._writer is not None:
            await self._writer

    async def _write_on(self) -> None:
        closing = False
        while not closing:
            with suppress(TimeoutError):
                async with asyncio.timeout(SEGMENT_S / 2):
                    await self._wake.wait()
            self._wake.clear()
            closing = self._closing
            await self._write(closing)

    async def _write(self, closing: bool) -> None:
        lines, self._lines, self._waiting_bytes = self._lines, [], 0
        try:
            await asyncio.to_thread(self._segments.append, lines, closing=closing)
        except OSError as error:
            self._dropped += len(lines)
            _log.warning("no events are written to %s: %s", self._directory, error)
        if self._dropped:
            _log.warning("%d events were dropped: %s", self._dropped, self._directory)
            self._dropped = 0
