"""The archive of Spark's classes: when it is written, mapped and left alone, and that a session is
none the worse for whatever is wrong with it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from sim.spark import class_archive as archives
from sim.spark.java import KEEPS_PROFILES, with_front

PATH = Path("/cache/meteor") / archives.whole("0123")
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
def test_it_is_mapped_where_it_is_and_written_where_nobody_does(
    java: int, uses: str, writes: str
) -> None:
    other = archives.whole("4567")
    mapped = archives.choose(PATH, java, 7, {f"{other}-5": 5, f"{PATH.name}-9": 9})
    assert mapped.options[0] == f"{uses}{PATH}-9"
    assert mapped.claim is None
    cut_off = {f"{other}-5": 5, f"{other}.6.part": 0, f"{PATH.name}-9": 8}
    written = archives.choose(PATH, java, 7, cut_off)
    assert written.options[0] == f"{writes}{PATH}"
    assert written.claim == PATH.with_name(f"{PATH.name}.7.part")
    assert archives.choose(PATH, java, 7, {f"{PATH.name}.6.part": 0}) == archives.Choice()


def test_what_is_long_unused_or_half_written_goes_and_nothing_else() -> None:
    old_s, older_s = archives.LEFT_S + 1, archives.KEPT_S + 1
    ages_s = {
        "spark-1.classes-5": old_s, "spark-2.classes-5": older_s, "spark-3.classes.9.part": 1.0,
        "spark-4.classes.9.part": old_s, "spark-5.classes.9.part.config": old_s,
        "notes.txt": older_s, "spark-6.notes": older_s,
    }  # fmt: skip
    assert archives.outdated(ages_s) == [
        "spark-2.classes-5", "spark-4.classes.9.part", "spark-5.classes.9.part.config",
    ]  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    """A home of Java, a folder of jars, and an environment."""
    home, jars = tmp_path / "it's java", tmp_path / "jars"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="17.0.15"\nMODULES="jdk.incubator.vector"\n')
    jars.mkdir()
    (jars / "spark-core.jar").write_text("classes")
    return home, jars, {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def asked(machine: tuple[Path, Path, dict[str, str]]) -> archives.Choice:
    home, jars, environment = machine
    return archives.chosen(home, 17, jars, ["-Xa"], environment)


def test_the_first_session_writes_and_those_beside_it_do_without(
    machine: tuple[Path, Path, dict[str, str]],
) -> None:
    first = asked(machine)
    assert first.claim is not None
    assert first.claim.exists()
    assert asked(machine) == archives.Choice()
    first.fulfil()
    again = asked(machine)
    assert again.claim == first.claim, "a claim that is given up is taken by the next"
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    folder = first.claim.parent
    again.fulfil()
    whole = first.claim.name.removesuffix(f".{os.getpid()}.part")
    (folder / f"{whole}.{ended.pid}.part").touch()
    assert asked(machine).claim is not None, "a writer that was killed keeps nobody from writing"
    kept = folder / f"{whole}-7"
    kept.write_text("classes")
    os.utime(kept, (0, 0))
    assert asked(machine).options[0] == f"-XX:SharedArchiveFile={kept}"
    assert kept.stat().st_mtime > 0, "it is in use"
    (machine[1] / "spark-core.jar").write_text("other classes")
    other = asked(machine).claim
    assert other is not None
    assert not other.name.startswith(whole), "other jars, another archive"


def test_nothing_is_written_where_it_is_switched_off_or_the_folder_is_not_ones_own(
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


JAVA = """\
#!/bin/sh
for argument do case $argument in -XX:*) echo "${argument%%=*}" > "${argument#*=}" ;; esac; done
echo "$@"
cat
exit 3
"""


@pytest.mark.parametrize("broken_off", [False, True])
def test_an_archive_gets_its_name_when_it_is_whole(
    machine: tuple[Path, Path, dict[str, str]], tmp_path: Path, broken_off: bool
) -> None:
    home = machine[0]
    (home / "bin" / "java").write_text(JAVA)
    (home / "bin" / "java").chmod(0o755)
    claim, whole = tmp_path / "it's claimed", tmp_path / "a whole"
    if broken_off:
        claim.touch()
    front = with_front(home, tmp_path / "front", claim)
    option = f"-XX:ArchiveClassesAtExit={whole}"
    done = subprocess.run(
        [front / "bin" / "java", "-Xmx1g", option, "a b"], input="of stdin", capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stdout.startswith(f"-Xmx1g {option}.")
    assert done.stdout.endswith(".part a b\nof stdin")
    kept = [each.stat().st_size for each in tmp_path.glob("a whole-*")]
    assert [each.name for each in tmp_path.glob("a whole*")] == [f"a whole-{size}" for size in kept]
    assert bool(kept) != broken_off
    assert not claim.exists()
    assert not list(tmp_path.glob("*.part"))
    assert with_front(home, tmp_path / "none") == home, "a whole Java needs no front"


# -- with Spark

SESSION = """
from sim.spark.session import session
with session(archives=True) as spark:
    print(spark.range(7).count(), spark._jvm.java.lang.ProcessHandle.current().pid())
"""


def loaded_in_session(cache: Path, logs: Path) -> list[str]:
    """The JVM's lines of Spark's classes, lambdas left out, in a session in a process of its own,
    which has ended as has what it writes."""
    told = {
        **os.environ, "XDG_CACHE_HOME": str(cache),
        "SPARK_SUBMIT_OPTS": f"-Xlog:class+load:file={logs}/%p.log",
    }  # fmt: skip
    told.pop(archives.SWITCH, None)
    command = [sys.executable, "-c", SESSION]
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=True)
    for part in (cache / "meteor").glob("*.part"):
        number = int(part.name.removesuffix(".part").rpartition(".")[2])
        try:
            writer = os.pidfd_open(number)
        except ProcessLookupError:
            continue
        ended, _, _ = select.select([writer], [], [], 300)
        os.close(writer)
        assert ended, "the archive was not written in five minutes"
    count, java = done.stdout.split()
    assert count == "7"
    lines = (logs / f"{java}.log").read_text().splitlines()
    return [line for line in lines if "org.apache.spark." in line and "$$Lambda" not in line]


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is no child")
def test_the_second_session_maps_what_the_first_one_loaded(tmp_path: Path) -> None:
    """And one that finds it cut off does without."""
    cache = tmp_path / "the cache"
    mapped = []
    for _ in range(2):
        lines = loaded_in_session(cache, tmp_path)
        assert len(lines) > 1000
        mapped.append(sum("source: shared objects file" in line for line in lines) / len(lines))
        (archive,) = (cache / "meteor").iterdir()
    assert mapped[0] == 0
    assert mapped[1] > 0.8, mapped
    archive.chmod(0o600)
    archive.write_bytes(archive.read_bytes()[: 1 << 20])
    assert len(loaded_in_session(cache, tmp_path)) > 1000
