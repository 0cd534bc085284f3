"""The archive of Spark's classes, written behind the back of whoever ran the study first.

Law of this file: a process of its own, the least important of the machine, which nobody waits for
and which ends by itself.  It runs a study of a few peers: the classes are those of a large one.
Rejected: that the first study itself writes the archive, as Java's recording cost it ten seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sim.spark import class_archive
from sim.spark.java import version
from sim.spark.session import begun, is_made_here, java_of, module_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOUND_S: Final = 600
"""What is not done then is ended; half a minute of a core is usual."""
_NICE: Final = 19


def begin() -> bool:
    """Start the process, if there is no archive of the Java and Spark here and nobody writes one;
    whether it was started.  None is where archives are switched off, and on CI's machines, which
    are gone before anything is gained."""
    if not is_made_here() or os.environ.get("CI"):
        return False
    _, kept = java_of(newer=True)
    if kept.missing is None or not class_archive.claim(kept.missing):
        return False
    subprocess.Popen(  # noqa: S603 (this very Python, and a path of ours)
        # -P: the folder that somebody happens to be in is none to take modules from.
        [sys.executable, "-P", "-m", __name__, str(kept.missing)],
        env={**os.environ, "PYTHONPATH": module_path()}, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return True


def main(path: Path) -> None:
    """Write the archive that this process was started for.  Where it fails the claim stays, and the
    next try is tomorrow's."""
    part = class_archive.begin(path)
    home, _ = java_of(newer=True)
    local = begun({}, home, class_archive.writing(part, version(home)))
    _study(local)
    # The JVM writes as it ends, which it does when nobody holds its standard input any more.
    gateway: Any = local.sparkContext._gateway
    local.stop()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    class_archive.finish(path, part)


def _study(spark: SparkSession) -> None:
    from sim.spark.study import run  # noqa: PLC0415 (needs a Java, which is there now)

    with tempfile.TemporaryDirectory(prefix="meteor-study-") as folder:
        for _ in range(2):  # the second finds its stages done
            run(
                spark, peers=(50, 100), profiles=4_000, queries=8, words="zipf", out=folder, tasks=2
            ).toArrow()


def _end(*_: object) -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    os.nice(_NICE)
    if os.getpgrp() != os.getpid():  # given by hand: the group is to be ours alone, to be ended
        os.setsid()
    signal.signal(signal.SIGALRM, _end)
    signal.alarm(BOUND_S)
    main(Path(sys.argv[1]))
