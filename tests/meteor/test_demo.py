"""The demo with real processes: exact, honest about a wrong answer, and gone when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from meteor.demo.readings import of_a_fire
from meteor.demo.swarm import PeerFailed, Swarm

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

ROOT = Path(__file__).parent.parent.parent
GONE_S = 3.0
"""How long a child may outlive the demo."""
WAIT_S = 60.0


def write_readings(path: Path, count: int) -> None:
    """A file of generated readings, in the columns that a sensor network's file has."""
    rows = ["timestamp_ms,mote,humidity,temperature,voltage,par"]
    fires = [reading for seed in range(5) for reading in of_a_fire(seed)]
    rows += [
        f"{at},{at % 19 + 1},{reading.humidity},{reading.temperature},{reading.voltage},0"
        for at, reading in enumerate(fires[:count])
    ]
    path.write_text("\n".join(rows) + "\n")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "meteor", "demo", *arguments]


def environment(folder: Path) -> dict[str, str]:
    """The children carry `folder` in their command lines: so they are found again."""
    return {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}


def children(folder: Path) -> list[int]:
    """The living processes whose command line names the demo's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:  # it ended while we looked
                continue
            if any(str(folder).encode() in word for word in words) and state != "Z":
                found.append(int(entry.name))
    return found


def wait_until(reached: Callable[[], bool], seconds: float = WAIT_S) -> bool:
    """Poll, as a shell would; whether it was reached in time."""
    end_s = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for process in children(tmp_path):
        os.kill(process, signal.SIGKILL)


def test_a_small_demo_is_exact_and_leaves_nothing(folder: Path) -> None:
    """Several clients post at once; the children are gone when the demo is."""
    write_readings(folder / "readings.csv", 150)
    done = subprocess.run(
        command("--peers", "3", "--readings", str(folder / "readings.csv"), "--json"),
        env=environment(folder), capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["exact"] is True
    assert numbers["posted"] == 150
    assert sum(numbers["stored"]) > 150  # the alarms are stored too
    assert len(numbers["stored"]) == 3
    assert numbers["notified"] > 0
    assert numbers["matched"] > 150
    assert not children(folder)
    assert [path.name for path in folder.iterdir()] == ["readings.csv"]


@pytest.mark.parametrize(
    "corruption",
    ["drop", *(pytest.param(one, marks=pytest.mark.long) for one in ("repeat", "change"))],
)
def test_a_corrupted_answer_makes_the_demo_fail(folder: Path, corruption: str) -> None:
    write_readings(folder / "readings.csv", 40)
    program = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from meteor.demo import run

        def feed(label, answer):
            if label != "range" or not answer:
                return answer
            (name, data), *rest = answer
            return {{
                "drop": rest,
                "repeat": [(name, data), *answer],
                "change": [(name, data + b"?"), *rest],
            }}[{corruption!r}]

        sys.exit(run(peers=1, readings=Path({str(folder / "readings.csv")!r}), feed=feed))
    """)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(folder), capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NOT EXACT" in done.stdout
    assert "range" in done.stdout.split("WRONG: ", 1)[1]


def heed_interrupts() -> None:
    """A suite that runs in the background of a shell ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    "moment", ["mid-join", pytest.param("at work", marks=pytest.mark.long)]
)
def test_interrupting_ends_it_with_130_and_no_child_left(folder: Path, moment: str) -> None:
    demo = subprocess.Popen(
        command("--peers", "3"), env=environment(folder),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - no threads are involved
    )  # fmt: skip
    assert demo.stderr is not None
    if moment == "mid-join":
        assert wait_until(lambda: len(children(folder)) >= 2)
    else:
        assert "3 of 3" in demo.stderr.readline()
    demo.send_signal(signal.SIGINT)
    _, errors = demo.communicate(timeout=WAIT_S)
    assert demo.returncode == 130, errors
    assert "Traceback" not in errors
    assert wait_until(lambda: not children(folder), GONE_S)


@pytest.mark.long
def test_a_killed_demo_leaves_no_child(folder: Path) -> None:
    """Nobody is there to end them: they see that their parent is gone."""
    demo = subprocess.Popen(
        command("--peers", "3"), env=environment(folder), stderr=subprocess.PIPE, text=True
    )
    assert demo.stderr is not None
    assert "3 of 3" in demo.stderr.readline()
    demo.kill()
    demo.communicate(timeout=WAIT_S)
    assert wait_until(lambda: not children(folder), GONE_S)


async def test_a_peer_that_cannot_start_says_why() -> None:
    with pytest.raises(PeerFailed, match="the keyword space is not TOML"):
        async with Swarm(2, "this is no space"):
            pytest.fail("nothing serves")


def test_a_machine_too_slow_for_the_limit_is_told_what_to_do(folder: Path) -> None:
    done = subprocess.run(
        command("--peers", "1", "--time-limit", "0.01"),
        env=environment(folder), capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 5, done.stdout + done.stderr
    assert "--time-limit 300 --peers 4" in done.stderr
    assert not children(folder)


@pytest.mark.long
def test_all_readings_of_a_night_are_exact_on_sixteen_peers(folder: Path) -> None:
    """7,563 rows; METEOR_READINGS names a file of real ones."""
    path = Path(os.environ.get("METEOR_READINGS", folder / "readings.csv"))
    if not path.exists():
        write_readings(path, 7_563)
    done = subprocess.run(
        command("--readings", str(path), "--json"),
        env=environment(folder), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["posted"] == len(path.read_text().splitlines()) - 1
    assert len(numbers["stored"]) == 16
