"""Spark's classes as the JVM made them ready once, in a file that later sessions map.

Law of this file: decisions are pure; files only in one folder of the user's own cache, and nothing
that goes wrong there fails a session: it then has no archive.  Loading and linking 15,000 classes
is most of what Spark's start costs.  The JVM that writes an archive is slower by ten seconds, so no
session that somebody waits for writes one: `training.py` does, behind it.  The name of an archive
holds a digest of all that makes it invalid, so that another Java or Spark is another archive; and
its size, as the JVM looks at that too late: one that was cut off brings it down.
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
"""The environment variable that, set to `off`, keeps sessions from using and having archives."""
KEPT_S: Final = 30 * 24 * 3600.0
"""An archive that nobody used for so long goes when another one is written."""
CLAIMED_S: Final = 24 * 3600.0
"""As long does a claim count: a writer that failed leaves it, and is not tried again and again."""
CLAIM: Final = "writing"
"""The file of whoever writes an archive, one in the folder: never two at a time."""
_SUFFIX, _PART = ".classes", ".part"


@dataclass(frozen=True, slots=True)
class Choice:
    """What a session does about archives."""

    options: tuple[str, ...] = ()
    """Of its JVM, which map the archive that is there."""
    missing: Path | None = None
    """The name of the one that is not, without its size."""


def identity(release: str, jars: Iterable[tuple[str, int, int]], options: Iterable[str]) -> str:
    """The digest of what an archive is valid for: Java's `release` file and home, name, size and
    time of each jar (the JVM takes no others), and the JVM's options."""
    told = "\n".join([release, *map(str, sorted(jars)), *options])
    return blake2b(told.encode(), digest_size=8).hexdigest()


def named(digest: str) -> str:
    """The name of an archive; its size comes behind it."""
    return f"spark-{digest}{_SUFFIX}"


def choose(path: Path, java: int, sizes: Mapping[str, int]) -> Choice:
    """Map the archive `path` if it is whole among the files in its folder (names, and bytes)."""
    for name, size in sizes.items():
        if name == f"{path.name}-{size}":
            use = "-XX:AOTCache=" if java >= KEEPS_PROFILES else "-XX:SharedArchiveFile="
            return Choice((f"{use}{path.with_name(name)}", *_quiet(java)))
    return Choice(missing=path)


def writing(part: Path, java: int) -> tuple[str, ...]:
    """The options of a JVM that writes an archive when it ends."""
    write = "-XX:AOTCacheOutput=" if java >= KEEPS_PROFILES else "-XX:ArchiveClassesAtExit="
    return (f"{write}{part}", *_quiet(java))


def _quiet(java: int) -> tuple[str, ...]:
    # Whatever is wrong with an archive is no concern of who waits for the study.
    return ("-Xlog:cds*=off", "-Xlog:aot*=off") if java >= KEEPS_PROFILES else ("-Xlog:cds*=off",)


def outdated(ages_s: Mapping[str, float]) -> list[str]:
    """The names of archives long unused, and of what writers left half-written: of those but one
    works at a time, and it asks before it begins."""
    return sorted(
        name for name, age_s in ages_s.items()
        if name.startswith("spark-") and _SUFFIX in name and (_PART in name or age_s > KEPT_S)
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
        path = folder / named(identity(release, stamps, options))
        choice = choose(path, java, {each.name: each.stat().st_size for each in folder.iterdir()})
        if choice.options:
            Path(choice.options[0].partition("=")[2]).touch()
    except OSError:
        return Choice()
    return choice


def claim(path: Path) -> bool:
    """Whether the caller, and nobody else, is to write the archive: none did in the last day."""
    file = path.with_name(CLAIM)
    try:
        if file.exists() and time.time() - file.stat().st_mtime > CLAIMED_S:
            file.unlink()
        file.touch(exist_ok=False)
    except OSError:  # somebody does, or the folder is gone
        return False
    return True


def begin(path: Path) -> Path:
    """Make room for the archive, which the caller has claimed; where to write it."""
    now_s = time.time()
    ages_s = {each.name: now_s - each.stat().st_mtime for each in path.parent.iterdir()}
    for name in outdated(ages_s):
        (path.parent / name).unlink(missing_ok=True)
    return path.with_name(f"{path.name}{_PART}")


def finish(path: Path, part: Path) -> None:
    """The archive is whole: it gets its name, and the claim is given up."""
    part.rename(f"{path}-{part.stat().st_size}")
    path.with_name(CLAIM).unlink(missing_ok=True)


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
