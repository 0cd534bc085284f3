"""The Spark session of the study: one made elsewhere, or a quiet one on this machine.

Law of this file: configuration only, and only of a session that is made here: under `spark-submit`,
and on a Spark Connect server, whoever starts it says what it runs on.  Local sessions take workers
of this very Python, bind to loopback whatever the machine's name is, keep their scratch files in a
temporary folder and say nothing but errors.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sim.spark import class_archive
from sim.spark.java import java_home, version, with_front
from sim.spark.shipping import packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

HOW_TO_GET: Final = "the study needs PySpark: pip install 'meteor-rendezvous[spark]'"
# Spark itself sets the level to that of the setting `spark.log.level`; it prints three lines about
# that unless the level is, until then, what it would have set otherwise.
_LOGGING: Final = """\
rootLogger.level = warn
logger.hadoop.name = org.apache.hadoop
logger.hadoop.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n%ex
"""
_JAVA: Final = (
    # Throughput counts here, pauses do not: the parallel collector, not G1.
    "-XX:+UseParallelGC",
    # From the default of 21 MB on each step up collects everything, five times while Spark starts.
    "-XX:MetaspaceSize=256m",
    # Spark makes code for every query, most of which lives for seconds.  Compiling it thoroughly
    # took a quarter of all processor time; so only what runs ten times as often as usual is.
    # Never (TieredStopAtLevel=1) costs the matching join twice its time.
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
ROWS_A_BATCH: Final = 65_536
"""Rows that a Python worker sees at once; with more of them kernels leave the processor's cache."""


class SparkMissing(ImportError):
    """PySpark is not installed; the text says how to get it."""


@contextmanager
def session(
    remote: str | None = None,
    options: Mapping[str, str] | None = None,
    *,
    bars: bool = False,
    newer: bool = False,
) -> Iterator[SparkSession]:
    """A session: of the Spark Connect server `remote` (`sc://host:15002`, or `local[2]` for one
    here), the one that `spark-submit` or a notebook has begun, or a local one, which ends with the
    block.  `options` are set in a local one.  `bars`: how many tasks are done is shown on the
    terminal while they run, by Spark itself in a local session.  `newer`: a local one takes the
    Java that starts sooner, which maps the classes that are kept of it (`class_archive.py`).

    Raises SparkMissing and `JavaMissing`, with what to install."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise SparkMissing(HOW_TO_GET) from error
    if remote is not None:
        with _environment(_scratch(), java_home()) if remote.startswith("local") else nullcontext():
            connected = SparkSession.builder.remote(remote).getOrCreate()
        with tempfile.TemporaryDirectory() as folder:
            # Functions travel by their module's name, so the server's workers get the modules.
            connected.addArtifacts(str(packed(Path(folder) / "meteor.zip")), pyfile=True)
        if bars:
            connected.registerProgressHandler(cast("Any", tell_tasks))
        try:
            yield connected
        finally:
            connected.stop()
        return
    if not is_made_here() or SparkSession.getActiveSession() is not None:
        yield SparkSession.builder.getOrCreate()
        return
    home, kept = java_of(newer=newer)
    shown = {"spark.ui.showConsoleProgress": str(bars).lower()}
    local = begun({**shown, **(options or {})}, home, kept.options)
    try:
        yield local
    finally:
        local.stop()


def is_made_here() -> bool:
    """Whether no `spark-submit` has begun the session of this process."""
    return "PYSPARK_GATEWAY_PORT" not in os.environ


def tell_tasks(
    stages: Iterable[StageInfo] | None, inflight_tasks: int, _: str | None, done: bool
) -> None:
    """What a Spark Connect server says of a query's tasks, in a line that the next one replaces."""
    known = list(stages or ())
    every, finished = (
        sum(getattr(stage, name) for stage in known)
        for name in ("num_tasks", "num_completed_tasks")
    )
    text = "" if done else f"tasks: {finished} of {every} done, {inflight_tasks} running"
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


def begun(options: Mapping[str, str], home: Path, java: Iterable[str]) -> SparkSession:
    """A local session on the Java in `home`, with further options of its JVM."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)

    scratch = _scratch()
    builder = SparkSession.builder.master(options.get("spark.master", "local[*]"))
    for name, value in {**_settings(scratch, java), **options}.items():
        builder = builder.config(name, value)
    with _environment(scratch, home):
        return builder.appName("meteor routing study").getOrCreate()


def java_of(*, newer: bool) -> tuple[Path, class_archive.Choice]:
    """The home of Java, and what this machine keeps of it for the Spark here."""
    from pyspark import __version__ as spark  # noqa: PLC0415 (an extra)
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415 (an extra)

    if not newer:
        return java_home(), class_archive.Choice()
    # Before 4.1 Spark's Hadoop asks for what Java 24 has no more.
    home = java_home(newer=tuple(map(int, spark.split(".")[:2])) >= (4, 1))
    jars = Path(_find_spark_home()) / "jars"
    return home, class_archive.chosen(home, version(home), jars, _JAVA, os.environ)


def _scratch() -> Path:
    """A folder that goes when the process does."""
    scratch = Path(tempfile.mkdtemp(prefix="meteor-study-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return scratch


@contextmanager
def _environment(scratch: Path, home: Path) -> Iterator[None]:
    """What a Spark that this process starts is told of its Java, its Python and where it is; these
    variables are then again what they were."""
    told = {
        "JAVA_HOME": str(with_front(home, scratch / "java")),
        # Workers would be the `python3` of the path, and the machine's name may lead anywhere.
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYTHONPATH": module_path(),
    }
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def module_path() -> str:
    """PYTHONPATH by which processes find this package: functions travel by their module's name."""
    here = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([here, *(folder for folder in known if folder and folder != here)])


def _settings(scratch: Path, java: Iterable[str]) -> dict[str, str]:
    logging = scratch / "log4j2.properties"
    logging.write_text(_LOGGING)
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.driver.extraJavaOptions": " ".join(
            [*_JAVA, f"-Dlog4j2.configurationFile={logging.as_uri()}", *map(shlex.quote, java)]
        ),
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        # 200 by default, for clusters; each task costs some milliseconds.
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_A_BATCH),
    }


def elapsed_s(since_s: float = 0.0) -> float:
    """Seconds since a moment of this very clock; for progress."""
    return time.perf_counter() - since_s
