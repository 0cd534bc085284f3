"""The archive of Spark's classes: when it is mapped, missed and left alone, and that a session is
none the worse for whatever is wrong with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sim.spark import class_archive as archives
from sim.spark import training
from sim.spark.java import KEEPS_PROFILES

PATH = Path("/cache/meteor") / archives.named("0123")
JARS = [("spark-core.jar", 10, 5), ("scala-library.jar", 20, 6)]


def test_whatever_makes_an_archive_invalid_makes_another_one() -> None:
    digests = [
        archives.identity("java 17", JARS, ["-Xa"]),
        archives.identity("java 25", JARS, ["-Xa"]),
        archives.identity("java 17", JARS, ["-Xb"]),
        archives.identity("java 17", JARS[:1], ["-Xa"]),
        archives.identity("java 17", [("spark-core.jar", 10, 7), JARS[1]], ["-Xa"]),
    ]
    assert len(set(digests)) == len(digests)
    assert archives.identity("java 17", reversed(JARS), ["-Xa"]) == digests[0]


@pytest.mark.parametrize(
    ("java", "uses", "writes"),
    [
        (17, "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit="),
        (KEEPS_PROFILES, "-XX:AOTCache=", "-XX:AOTCacheOutput="),
    ],
)
def test_it_is_mapped_where_it_is_whole(java: int, uses: str, writes: str) -> None:
    other = archives.named("4567")
    mapped = archives.choose(PATH, java, {f"{other}-5": 5, f"{PATH.name}-9": 9})
    assert mapped.options[0] == f"{uses}{PATH}-9"
    assert mapped.missing is None
    part = PATH.with_name(f"{PATH.name}.part")
    unfit = {f"{other}-5": 5, part.name: 9, f"{PATH.name}-9": 8}
    assert archives.choose(PATH, java, unfit) == archives.Choice(missing=PATH)
    assert archives.writing(part, java)[0] == f"{writes}{part}"


def test_what_is_long_unused_or_half_written_goes_and_nothing_else() -> None:
    older_s = archives.KEPT_S + 1
    ages_s = {
        "spark-1.classes-5": older_s - 2, "spark-2.classes-5": older_s,
        "spark-3.classes.part": 1.0, "spark-4.classes.part.config": 1.0,
        "notes.txt": older_s, "spark-6.notes": older_s, archives.CLAIM: older_s,
    }  # fmt: skip
    assert archives.outdated(ages_s) == [
        "spark-2.classes-5", "spark-3.classes.part", "spark-4.classes.part.config",
    ]  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    """A home of Java, a folder of jars, and an environment."""
    home, jars = tmp_path / "it's java", tmp_path / "jars"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17.0.15"\nMODULES="jdk.incubator.vector"\n')
    jars.mkdir()
    (jars / "spark-core.jar").write_text("classes")
    return home, jars, {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def asked(machine: tuple[Path, Path, dict[str, str]]) -> archives.Choice:
    home, jars, environment = machine
    return archives.chosen(home, 17, jars, ["-Xa"], environment)


def test_one_writes_what_is_missing_and_a_later_session_maps_it(
    machine: tuple[Path, Path, dict[str, str]],
) -> None:
    path = asked(machine).missing
    assert path is not None
    assert list(path.parent.iterdir()) == [], "a session that somebody waits for writes nothing"
    assert archives.claim(path)
    assert not archives.claim(path.with_name(archives.named("4567"))), "never two at a time"
    (path.parent / f"{path.name}.part.config").touch()
    part = archives.begin(path)
    assert [each.name for each in path.parent.iterdir()] == [archives.CLAIM]
    part.write_text("classes")
    assert asked(machine) == archives.Choice(missing=path), "it is not whole"
    archives.finish(path, part)
    (kept,) = path.parent.iterdir()
    assert kept == path.with_name(f"{path.name}-7")
    os.utime(kept, (0, 0))
    assert asked(machine).options[0] == f"-XX:SharedArchiveFile={kept}"
    assert kept.stat().st_mtime > 0, "it is in use"
    (machine[1] / "spark-core.jar").write_text("other classes")
    other = asked(machine).missing
    assert other not in (None, path), "other jars, another archive"


def test_a_writer_that_failed_is_not_tried_again_on_the_same_day(tmp_path: Path) -> None:
    path = tmp_path / archives.named("0123")
    assert archives.claim(path)
    assert not archives.claim(path)
    passed_s = time.time() - archives.CLAIMED_S - 1
    os.utime(tmp_path / archives.CLAIM, (passed_s, passed_s))
    assert archives.claim(path)
    assert not archives.claim(path)


def test_nothing_is_done_where_it_is_switched_off_or_the_folder_is_not_ones_own(
    machine: tuple[Path, Path, dict[str, str]], tmp_path: Path
) -> None:
    home, jars, environment = machine
    off = {**environment, archives.SWITCH: "off"}
    assert asked((home, jars, off)) == archives.Choice()
    assert not (tmp_path / "cache").exists()
    (tmp_path / "file").touch()
    assert asked((home, jars, {"XDG_CACHE_HOME": str(tmp_path / "file")})) == archives.Choice()
    (tmp_path / "cache" / "meteor").mkdir(parents=True)
    (tmp_path / "cache" / "meteor").chmod(0o777)
    assert asked(machine) == archives.Choice(), "what others may write is not run"
    assert list((tmp_path / "cache" / "meteor").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"), [(archives.SWITCH, "off"), ("CI", "true"), ("PYSPARK_GATEWAY_PORT", "7")]
)
def test_no_process_is_started_where_nobody_gains(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    """And one where somebody does, once; detached from whoever started it."""
    started: list[list[str]] = []

    def start(command: list[str], **how: object) -> None:
        assert how["start_new_session"]
        assert how["stdin"] == how["stdout"] == how["stderr"] == subprocess.DEVNULL
        started.append(command)

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for each in (archives.SWITCH, "CI", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(each, raising=False)
    with monkeypatch.context() as there:
        there.setenv(name, value)
        assert not training.begin()
    assert training.begin()
    assert not training.begin(), "one is at it"
    assert [command[3] for command in started] == ["sim.spark.training"]


# -- with Spark

SESSION = """
from sim.spark.session import session
with session(newer=True) as spark:
    print(spark.range(7).count(), spark._jvm.java.lang.ProcessHandle.current().pid())
"""
TRAINING = """
import sys
from sim.spark import class_archive, training
from sim.spark.session import java_of
path = java_of(newer=True)[1].missing
assert class_archive.claim(path)
training.main(path)
"""


def loaded_in_session(told: dict[str, str], logs: Path) -> list[str]:
    """The JVM's lines of Spark's classes, lambdas left out, in a session of its own process."""
    option = f"-Xlog:class+load:file={logs}/%p.log"
    done = subprocess.run(
        [sys.executable, "-c", SESSION], env={**told, "SPARK_SUBMIT_OPTS": option},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    count, java = done.stdout.split()
    assert count == "7"
    lines = (logs / f"{java}.log").read_text().splitlines()
    return [line for line in lines if "org.apache.spark." in line and "$$Lambda" not in line]


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.xdist_group("spark")
def test_a_session_maps_what_the_training_wrote(tmp_path: Path) -> None:
    """And one that finds it cut off does without."""
    cache = tmp_path / "the cache"
    told = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    told.pop(archives.SWITCH, None)
    subprocess.run([sys.executable, "-c", TRAINING], env=told, check=True)
    (archive,) = (cache / "meteor").iterdir()
    lines = loaded_in_session(told, tmp_path)
    assert len(lines) > 1000
    mapped = sum("source: shared objects file" in line for line in lines) / len(lines)
    assert mapped > 0.8, mapped
    archive.chmod(0o600)
    archive.write_bytes(archive.read_bytes()[: 1 << 20])
    assert len(loaded_in_session(told, tmp_path)) > 1000
    assert list((cache / "meteor").iterdir()) == [archive], "a session writes nothing"
