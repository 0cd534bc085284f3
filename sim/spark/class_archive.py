"""Spark's classes as the JVM made them ready once, in a file that later sessions map.

Law of this file: decisions are pure; files only in one folder of the user's own cache, and nothing
that goes wrong there fails a session: it then has no archive.  Loading and linking 15,000 classes
is most of what Spark's start costs.  The JVM that writes an archive does so when it ends, to a name
of its own that is renamed when it is whole (`java.with_front`).  The name of the whole one holds a
digest of all that makes it invalid, so that another Java or Spark is another archive; and its size,
as the JVM looks at that too late: one that was cut off brings it down.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from sim.spark.java import KEEPS_PROFILES

SWITCH: Final = "METEOR_CLASS_ARCHIVE"
"""The environment variable that, set to `off`, keeps sessions from using and writing archives."""
KEPT_S: Final = 30 * 24 * 3600.0
"""An archive that nobody used for so long goes when another one is written."""
LEFT_S: Final = 24 * 3600.0
"""As long is a half-written one left alone, whoever writes it: perhaps a container beside us."""
_SUFFIX, _PART = ".classes", ".part"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a session does about archives."""

    options: tuple[str, ...] = ()
    """Of its JVM."""
    claim: Path | None = None
    """Where its JVM writes one: a file that is there until the session has ended well."""

    def fulfil(self) -> None:
        """The session has ended well: what its JVM loaded is worth keeping."""
        if self.claim is not None:
            self.claim.unlink(missing_ok=True)


def identity(release: str, jars: Iterable[tuple[str, int, int]], options: Iterable[str]) -> str:
    """The digest of what an archive is valid for: Java's `release` file and home, name, size and
    time of each jar (the JVM takes no others), and the JVM's options."""
    told = "\n".join([release, *map(str, sorted(jars)), *options])
    return blake2b(told.encode(), digest_size=8).hexdigest()


def whole(digest: str) -> str:
    """The name of an archive; its size comes behind it."""
    return f"spark-{digest}{_SUFFIX}"


def choose(path: Path, java: int, process: int, sizes: Mapping[str, int]) -> Choice:
    """Of a session in this process: map the archive `path` if it is whole among the files in its
    folder (names, and bytes), write it if nobody does; without files of writers that have ended."""
    ahead = java >= KEEPS_PROFILES
    # Whatever is wrong with an archive is no concern of who waits for the study.
    quiet = ("-Xlog:cds*=off", "-Xlog:aot*=off") if ahead else ("-Xlog:cds*=off",)
    for name, size in sizes.items():
        if name == f"{path.name}-{size}":
            use = "-XX:AOTCache=" if ahead else "-XX:SharedArchiveFile="
            return Choice((f"{use}{path.with_name(name)}", *quiet))
    if any(name.startswith(f"{path.name}.") for name in sizes):
        return Choice()
    write = f"-XX:AOTCacheOutput={path}" if ahead else f"-XX:ArchiveClassesAtExit={path}"
    return Choice((write, *quiet), path.with_name(f"{path.name}.{process}{_PART}"))


def outdated(ages_s: Mapping[str, float]) -> list[str]:
    """The names of archives long unused, and of what writers left half-written."""
    return sorted(
        name for name, age_s in ages_s.items()
        if name.startswith("spark-") and _SUFFIX in name
        and age_s > (LEFT_S if _PART in name else KEPT_S)
    )  # fmt: skip


def chosen(
    home: Path, java: int, jars: Path, options: Iterable[str], environment: Mapping[str, str]
) -> Choice:
    """What a session on the Java in `home`, with Spark's `jars` and these options, does; nothing
    where it is switched off, or the folder cannot be had."""
    if environment.get(SWITCH, "").lower() in ("off", "0", "no") or os.name != "posix":
        return Choice()
    try:
        folder = _own_folder(environment)
        found = [(each.name, each.stat()) for each in jars.iterdir()]
        stamps = [(name, seen.st_size, seen.st_mtime_ns) for name, seen in found]
        release = f"{home}\n{(home / 'release').read_text(errors='replace')}\n{jars}"
        path = folder / whole(identity(release, stamps, options))
        now_s = time.time()
        here = {each.name: each.stat() for each in folder.iterdir()}
        choice = choose(path, java, os.getpid(), {
            name: seen.st_size for name, seen in here.items()
            if _PART not in name or _is_claimed(name)
        })  # fmt: skip
        if choice.claim is not None:
            for name in outdated({name: now_s - seen.st_mtime for name, seen in here.items()}):
                (folder / name).unlink(missing_ok=True)
            choice.claim.touch()
        elif choice.options:
            Path(choice.options[0].partition("=")[2]).touch()
    except OSError:
        return Choice()
    return choice


def _own_folder(environment: Mapping[str, str]) -> Path:
    """The folder, made where it is not there.  Raises OSError where it cannot be written, or others
    can write to it: what is mapped from there is run."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(cache) / "meteor"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    seen = folder.stat()
    if seen.st_uid != os.getuid() or seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder} is not the user's alone")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} is not writable")
    return folder


def _is_claimed(name: str) -> bool:
    """Whether the process runs whose number a claim, or a half-written archive, bears."""
    number = name.partition(f"{_SUFFIX}.")[2].partition(".")[0]
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    return True
