"""One owner of a data directory at a time.

Law of this file: the lock is the operating system's (`flock` on a file that stays), so it is gone
the moment its process is, however that ended; a lock file left behind means nothing.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from meteor.errors import DataDirLocked


class DirectoryLock:
    """Held from construction to `release`; raises `DataDirLocked` while another owner lives."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Not inherited by children: a child that outlives us must not keep our directory.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 32).decode("ascii", "replace").strip()
            os.close(self._file)
            raise DataDirLocked(
                f"{path.parent} is in use by another peer (process {holder or 'unknown'}): "
                f"stop it, or give this peer a data directory of its own",
                str(path.parent),
            ) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let the next owner in; harmless when done twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
