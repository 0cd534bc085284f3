"""What the study stands on: Java, what workers are sent, the rules of its house; no Spark."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zipfile import ZipFile

import pandas
import pytest

from sim.spark import java, session
from sim.spark.figure import draw
from sim.spark.shipping import packed
from sim.spark.together import together

ROOT = Path(__file__).parents[2]


def fake_java(folder: Path, release: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text('#!/bin/sh\necho "$@"\n')
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{release}"\n')
    return folder


def test_java_is_told_found_or_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, found = fake_java(tmp_path / "told", "21.0.1"), fake_java(tmp_path / "found", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(told))
    monkeypatch.setenv("PATH", str(found / "bin"))
    assert java.java_home() == java.java_home(newer=True) == told
    (told / "release").write_text('JAVA_VERSION="1.8.0_392"\n')
    assert (java.version(told), java.version(tmp_path)) == (8, 0)
    assert java.java_home() == found
    brought = java.java_home(newer=True)
    assert java.version(brought) >= java.KEEPS_PROFILES
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java.java_home() == brought
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    with pytest.raises(java.JavaMissing, match="apt-get install"):
        java.java_home()


@pytest.mark.parametrize(("release", "opened"), [("17.0.15", True), ("25.0.2", False)])
def test_the_front_of_a_java_leaves_out_what_it_lacks_or_warns_of(
    tmp_path: Path, release: str, opened: bool
) -> None:
    """17 said `WARNING: Using incubator modules` on every start of a study, and 25 that the package
    is none of java.base."""
    package = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    whole = fake_java(tmp_path / "it's", release)
    home = java.with_front(whole, tmp_path / "front")
    assert java.version(home) == java.version(whole)
    asked = [
        str(home / "bin" / "java"), "-Xmx1g", "--add-modules=jdk.incubator.vector", package, "a b",
        "c",
    ]  # fmt: skip
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert told.stdout == f"-Xmx1g {package + ' ' if opened else ''}a b c\n"


@pytest.mark.long
def test_without_pyspark_the_extra_is_named(tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["pyspark"] = sys.modules["pyspark.sql"] = None
from sim.cli import main
sys.exit(main(["study", "--out", {str(tmp_path)!r}]))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "meteor-rendezvous[spark]" in done.stderr


def test_two_pieces_of_work_run_together_and_both_errors_are_told() -> None:
    """Each waits for the other, which one after the other would do for ever."""
    one, two = threading.Event(), threading.Event()

    def first() -> str:
        one.set()
        assert two.wait(30)
        return "first"

    def second() -> int:
        two.set()
        assert one.wait(30)
        return 2

    assert together(first, second) == ("first", 2)
    ended: list[str] = []

    def failing() -> None:
        ended.append("failing")
        raise ValueError("what went wrong")

    def other() -> None:
        ended.append("other")

    for pair in ((failing, other), (other, failing)):
        ended.clear()
        with pytest.raises(ValueError, match="what went wrong"):
            together(*pair)
        assert sorted(ended) == ["failing", "other"]


def test_a_connect_servers_tasks_are_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    stages = [
        SimpleNamespace(num_tasks=8, num_completed_tasks=5),
        SimpleNamespace(num_tasks=2, num_completed_tasks=0),
    ]
    session.tell_tasks(cast("Any", stages), 2, "some id", False)
    assert capsys.readouterr().err == "\r\x1b[Ktasks: 5 of 10 done, 2 running"
    session.tell_tasks(None, 0, None, True)
    assert capsys.readouterr().err == "\r\x1b[K"


def test_workers_find_all_that_they_import_in_the_zip(tmp_path: Path) -> None:
    """Where only numpy, pyarrow and hilbertcurve are: no SimPy, no networking, no lxml."""
    archive = packed(tmp_path / "meteor.zip")
    assert "sim/spark/kernels.py" in ZipFile(archive).namelist()
    program = """
import sys
for absent in ("simpy", "aiohttp", "lxml", "msgspec", "click", "pyspark", "matplotlib", "wordfreq"):
    sys.modules[absent] = None
sys.path.insert(0, sys.argv[1])
import sim.spark.kernels
assert sys.argv[1] in sim.spark.kernels.__file__
"""
    command = [sys.executable, "-I", "-c", program, str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


def test_no_step_touches_an_rdd_or_the_context() -> None:
    for path in sorted((ROOT / "sim" / "spark").glob("*.py")):
        names = {
            node.attr for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
        }  # fmt: skip
        # What trains a JVM made it here, and waits until it has ended.
        may = {"study": {"toPandas"}, "publishing": {"toPandas"}, "training": {"sparkContext"}}
        forbidden = {"rdd", "sparkContext", "_jvm", "_jdf", "toPandas"}
        assert not names & forbidden - may.get(path.stem, set()), path


def test_pure_modules_do_without_spark() -> None:
    pure = "attributes class_archive draws figure growth handing_on java kernels lookups papers "
    pure += "published_squid questions rings session shipping systems tally together verdict "
    pure += "visits workload"
    wanted = "".join(f"import sim.spark.{name}\n" for name in pure.split())
    program = f"import sys\nsys.modules['pyspark'] = None\n{wanted}"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_left_to_draw_is_drawn_and_its_failure_told() -> None:
    from sim.cli.study import _prepared

    done: list[str] = []
    with _prepared("zipf") as (ready, beside):
        ready()
        beside(lambda: done.append("drawn"))
    assert done == ["drawn"]

    def fail() -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"), _prepared("zipf") as (_, beside):
        beside(fail)


def test_the_labels_of_a_small_overlay_are_within_the_picture(tmp_path: Path) -> None:
    """Where shares are large the numbers beside the axis are wide; they pushed its label out."""
    from matplotlib import image

    rows = [
        {"peers": peers, "profiles": 5000, "placement": "hash", "routing": routing, "seed": 1,
         "query_class": mix, "processing_pct": share, "matching_pct": 2.5, "messages": 30.0,
         "hops": 60.0}
        for peers, share in ((100, 18.1), (200, 13.7)) for mix in ("wildcard", "range")
        for routing in ("first_match", "fingers", "published", "floor")
    ]  # fmt: skip
    draw(pandas.DataFrame(rows), tmp_path / "figure.png")
    pixels = image.imread(tmp_path / "figure.png")
    assert (pixels[:, :3, :3] == 1).all()
