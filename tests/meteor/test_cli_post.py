"""`meteor post --csv`: rows become posts, and rows that do not are put aside with their reason."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, SelectorError
from meteor.cli import exit_codes, main
from meteor.cli.csv_posting import wait_s
from meteor.cli.csv_rows import ColumnUnknown, Plan, RowRejected, parse_mapping
from tests.meteor.building import SPACE
from tests.meteor.ring_beside import RingBeside

HEADER = ("time", "mote", "temperature", "note")
ROWS = """time,mote,temperature,note
1,20,22.08,fine
2,10,,silent
3,11,hot,broken
4,12,23.5
5,12,24,"a, b"
"""
Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture(scope="module")
def ring() -> Iterator[RingBeside]:
    with RingBeside(2) as made:
        yield made


@pytest.fixture
def run(ring: RingBeside, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, list[str], str]:
        code = main([*arguments, "--peer", ring.addresses[0]])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.sockets
def test_rows_are_posted_and_rejects_put_aside_with_their_reason(
    run: Run, file: Path, tmp_path: Path
) -> None:
    rejects = tmp_path / "rejects.csv"
    code, (summary,), _ = run(
        "post", "type=first", "--csv", str(file), "--map", "temperature=temperature",
        "--map", "mote=col2", "--id", "m{mote}-{row}", "--data", "{note}",
        "--rejects", str(rejects),
    )  # fmt: skip
    assert code == exit_codes.BAD_INPUT
    assert summary.startswith(f"3 posted, 2 rejected, see {rejects}, in ")
    header, *rejected = csv.reader(io.StringIO(rejects.read_text()))
    assert header == [*HEADER, "error"]
    assert [(row[0], row[-1]) for row in rejected] == [
        ("3", "temperature: 'hot' is no number"),
        ("4", "3 columns, where the header has 4"),
    ]
    _, found, _ = run("get", "type=first")
    assert sorted(found) == [
        "type=first mote=10\tsilent",
        "type=first temperature=22.08 mote=20\tfine",
        "type=first temperature=24 mote=12\ta, b",
    ]


@pytest.mark.sockets
def test_rows_come_from_the_standard_input_without_a_header(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"7;21\n8;22\n")))
    code, lines, err = run(
        "post", "type=second", "--csv", "-", "--no-header", "--delimiter", ";",
        "--map", "temperature=col2", "--row", "--json",
    )  # fmt: skip
    assert code == exit_codes.DONE, err
    assert sorted(json.loads(line)["row"] for line in lines) == [1, 2]
    assert "2 posted, 0 rejected" in err
    _, found, _ = run("get", "type=second temperature=22")
    assert found == ['type=second temperature=22\t{"col1": "8", "col2": "22"}']


@pytest.mark.sockets
def test_rows_have_a_lifetime_and_names_of_their_own(run: Run, file: Path) -> None:
    code, lines, err = run(
        "post", "type=named", "--csv", str(file), "--map", "temperature=temperature", "--ttl", "77",
        "--id", "named-{row}", "--rate", "1000", "--rejects", "/dev/null", "--json",
    )  # fmt: skip
    said = [json.loads(line) for line in lines]
    assert code in (exit_codes.DONE, exit_codes.BAD_INPUT), err
    assert said
    assert all(one["ttl"] == 77.0 for one in said)
    assert all(one["id"].startswith(f"named-{one['row']}.") for one in said)


@given(
    st.floats(0.1, 1e4), st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30)
)
def test_rows_keep_the_pace_that_was_asked_for(rate: float, stalls: list[float]) -> None:
    """However long each takes: row n never leaves before its time, and at it where none stalled."""
    now = 0.0
    for before, stall_s in enumerate(stalls):
        now += wait_s(before, rate, now)
        assert now >= before / rate * (1 - 1e-9)
        if not any(stalls):
            assert now == pytest.approx(before / rate)
        now += stall_s


@pytest.mark.sockets
def test_a_payload_comes_from_the_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"piped")))
    assert run("post", "type=piped", "--file", "-")[0] == exit_codes.DONE
    assert run("get", "type=piped")[1] == ["type=piped\tpiped"]


@pytest.mark.sockets
@pytest.mark.parametrize("kind", ["third", "fourth", "temperature"])
def test_rows_of_one_name_replace_each_other(run: Run, tmp_path: Path, kind: str) -> None:
    """Wherever they live: a store takes the place of what has its name at the same place alone."""
    file = tmp_path / "motes.csv"
    rows = [(temperature, mote) for temperature in range(-40, 121, 20) for mote in "ab"]
    lines = [f"{temperature},{mote}" for temperature, mote in rows]
    file.write_text("\n".join(["temperature,mote", *lines, "hot,a"]))
    code, _, _ = run("post", f"type={kind}", "--csv", str(file), "--map", "temperature=temperature",
        "--id", f"{kind}-{{mote}}", "--rejects", "/dev/null")  # fmt: skip
    assert code == exit_codes.BAD_INPUT
    assert run("get", f"type={kind} temperature<=119")[:2] == (exit_codes.NO_MATCH, [])
    assert run("get", f"type={kind}")[:2] == (exit_codes.DONE, [f"type={kind} temperature=120"] * 2)


@pytest.mark.sockets
@pytest.mark.parametrize("kind", ["fifth", "sixth", "humidity"])
def test_who_goes_on_with_a_file_replaces_what_was_posted_of_it(
    run: Run, tmp_path: Path, kind: str
) -> None:
    """By `--skip`, as a run that stopped half way advises; rows that were rejected replace none."""
    file = tmp_path / "motes.csv"
    lines = ["temperature,mote", "-40,a", "-20,b", "0,a", "hot,a", "120,a", "120,b", "120,c"]
    options = ("--map", "temperature=temperature", "--id", f"{kind}-{{mote}}")
    file.write_text("\n".join(lines[:4]))
    assert run("post", f"type={kind}", "--csv", str(file), *options)[0] == exit_codes.DONE
    file.write_text("\n".join(lines))
    code, *_ = run("post", f"type={kind}", "--csv", str(file), *options, "--skip", "4")
    assert code == exit_codes.DONE
    assert run("get", f"type={kind} temperature<=119")[:2] == (exit_codes.NO_MATCH, [])
    assert run("get", f"type={kind}")[:2] == (exit_codes.DONE, [f"type={kind} temperature=120"] * 3)


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--map", "temperature=temprature"], "did you mean 'temperature'"),
        (["--map", "temperature=col9"], "no column 'col9'"),
        (["--map", "temperature=col3", "--id", "{moat}"], "did you mean 'mote'"),
        (["--map", "temperature"], "ATTRIBUTE=COLUMN"),
        (["--map", "a=col1", "--map", "a=col2"], "mapped twice"),
        ([], "--map"),
        (["--map", "a=col1", "--row", "--data", "x"], "--data or --row"),
        (["--map", "a=col1", "--delimiter", "::"], "not one character"),
    ],
)
def test_what_is_wrong_with_the_columns_is_said_before_a_row_is_posted(
    run: Run, file: Path, arguments: list[str], said: str
) -> None:
    code, out, err = run("post", "type=never", "--csv", str(file), *arguments)
    assert (code, out) == (exit_codes.BAD_INPUT, [])
    assert said in err
    assert run("get", "type=never")[0] == exit_codes.NO_MATCH


@pytest.mark.parametrize("option", ["--row", "--rate=1", "--skip=1", "--no-header", "--map=a=b"])
def test_options_of_rows_need_rows(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["post", "type=a", option]) == exit_codes.BAD_INPUT
    assert "is for the rows of --csv" in capsys.readouterr().err


@pytest.mark.sockets
def test_a_file_that_stops_half_way_says_where_to_go_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("temperature\n" + "".join(f"{n % 100}\n" for n in range(100_000)))
    with RingBeside(1) as ring:
        gone = threading.Timer(0.3, lambda: ring.do(ring.peers[0].crash()))
        gone.start()
        code = main(["post", "type=a", "--csv", str(path), "--map", "temperature=temperature",
                     "--timeout", "0.5", "--peer", ring.addresses[0]])  # fmt: skip
        gone.join()
    assert code in (exit_codes.UNREACHABLE, exit_codes.INCOMPLETE)
    said = capsys.readouterr().err
    assert "rows were posted; go on with --skip" in said


# ---- rows alone


def plan(**options: Any) -> Plan:
    mapping = options.pop("mapping", {"temperature": "temperature"})
    return Plan.of(HEADER, mapping, space=SPACE, **options)


RESERVED = "\U0010ffff"
cells = st.text(st.characters(codec="utf-8", exclude_characters=f"\x00{RESERVED}"), max_size=20)


@given(st.tuples(cells, cells, cells, cells))
def test_whatever_is_in_a_row_it_is_a_post_or_rejected(row: tuple[str, ...]) -> None:
    """The profile says again what the cells said: nothing is read as syntax."""
    mapping = {"temperature": "temperature", "mote": "mote", "wind/note": "note"}
    try:
        ready = plan(mapping=mapping, constant="type=a").post(row, 1)
    except (RowRejected, ValueError):
        return
    profile = Profile.parse(ready.profile)
    assert str(Profile.parse(str(profile))) == str(profile)
    note = row[3].strip()
    try:
        float(note)
    except ValueError:
        wanted = f"type=a {profile_text({'wind': {'note': note}})}" if note else "type=a"
        assert Profile.parse(wanted).matches(profile)


def test_a_row_with_the_reserved_character_is_refused_where_it_is_posted() -> None:
    ready = plan(mapping={"wind/note": "note"}).post(("1", "2", "3", f"a{RESERVED}"), 1)
    with pytest.raises(SelectorError, match="reserved"):
        _ = Profile.parse(ready.profile).tree


def profile_text(mapping: dict[str, Any]) -> str:
    from arms import profile

    return str(profile(mapping))


def test_numbers_are_numbers_where_the_space_says_so_and_where_they_look_like_it() -> None:
    made = plan(mapping={"type": "note", "temperature": "time", "mote": "mote"})
    ready = made.post(("21", "020", "x", "7"), 1)
    profile = Profile.parse(ready.profile, SPACE)
    assert Profile.parse('type="7" temperature=21 mote=20', SPACE).matches(profile)


def test_columns_called_like_a_number_of_a_column_win() -> None:
    made = Plan.of(("col2", "other"), {"a": "col2"})
    assert made.columns == {"a": 0}
    assert Plan.of(("x", "other"), {"a": "col2"}).columns == {"a": 1}
    with pytest.raises(ColumnUnknown):
        Plan.of(("x",), {"a": "col0"})


def test_templates_are_filled_with_cells_and_the_rows_number() -> None:
    ready = plan(stem="m{mote}-{row}", data="{note}{note}").post(("1", "20", "3", "n"), 7)
    assert (ready.stem, ready.data) == ("m20-7", b"nn")


def test_a_mapping_is_attribute_and_column() -> None:
    assert parse_mapping(["a=b", " wind/speed = col4 "]) == {"a": "b", "wind/speed": "col4"}
