"""One Spark session for all tests that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a test begins ends with it: no study of one leaves a process that keeps Java's classes.
os.environ.setdefault("METEOR_CLASS_ARCHIVE", "off")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session, or one of the Spark Connect server METEOR_SPARK_REMOTE."""
    from sim.spark.session import session

    options = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "3"}
    with pytest.MonkeyPatch.context() as patched:
        # Of so little data nothing is worth compiling thoroughly: that was a third of Java's time.
        patched.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
        before = dict(os.environ)
        with session(os.environ.get("METEOR_SPARK_REMOTE"), options) as made:
            left = {name for name in os.environ if os.environ[name] != before.get(name)}
            assert all(name.startswith("SPARK_") for name in left), left  # what Connect notes
            patched.undo()
            yield made
