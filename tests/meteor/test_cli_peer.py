"""The commands against a running peer: what they print, and their exit codes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meteor.cli import exit_codes, main

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

ROOT = Path(__file__).parent.parent.parent
WAIT_S = 30.0
SPACE = """
name = "building"
[[dimensions]]
name = "type"
kind = "word"
[[dimensions]]
name = "temperature"
kind = "number"
low = -40
high = 125
"""


def start(*arguments: str) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """A peer's process, and what it says when it serves."""
    peer = subprocess.Popen(
        [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0", "--json", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert peer.stdout is not None
    line = peer.stdout.readline()
    if not line:
        pytest.fail(peer.communicate(timeout=WAIT_S)[1])
    return peer, json.loads(line)


def stop(peer: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str]:
    """Its exit code and what it said on standard error."""
    peer.send_signal(number)
    _, errors = peer.communicate(timeout=WAIT_S)
    return peer.returncode, errors


@pytest.fixture(scope="module")
def space_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("space") / "space.toml"
    path.write_text(SPACE)
    return path


@pytest.fixture(scope="module")
def address(space_file: Path) -> Iterator[str]:
    peer, said = start("--space", str(space_file))
    yield said["address"]
    assert stop(peer) == (0, "")


@pytest.fixture
def run(address: str, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command against the peer: exit code, lines of output, errors."""

    def run(*arguments: str) -> tuple[int, list[str], str]:
        code = main([*arguments, "--peer", address])
        shown = capsys.readouterr()
        return code, shown.out.splitlines(), shown.err

    return run


def test_what_is_posted_is_found_deleted_and_found_no_more(run: Any) -> None:
    code, (record_id,), _ = run("post", "type=life temperature=21.5", "--data", "warm")
    assert code == exit_codes.DONE
    assert record_id.count(".") == 1
    code, lines, _ = run("get", "type=life temperature=20..30")
    assert (code, lines) == (exit_codes.DONE, ["type=life temperature=21.5\twarm"])
    code, lines, _ = run("delete", "type=life temperature=20..30", "--dry-run")
    assert (code, lines) == (exit_codes.DONE, ["1 would be deleted"])
    code, lines, _ = run("delete", "--id", record_id)
    assert (code, lines) == (exit_codes.DONE, ["1 deleted"])
    assert run("get", "type=life temperature=20..30")[:2] == (exit_codes.NO_MATCH, [])
    assert run("delete", "type=life temperature=20..30")[0] == exit_codes.NO_MATCH


def test_json_is_one_object_a_line(run: Any) -> None:
    for at in range(3):
        code, (line,), _ = run(
            "post", f"type=json temperature={at}", "--json", "--ttl", "60", "--id", f"json-{at}"
        )
        assert code == exit_codes.DONE
        receipt = json.loads(line)
        assert receipt["id"].startswith(f"json-{at}.")
        assert receipt["complete"] is True
        assert receipt["ttl"] == 60
    code, lines, _ = run("get", "type=js*", "--json")
    assert code == exit_codes.DONE
    matches = [json.loads(line) for line in lines]
    assert sorted(match["profile"] for match in matches) == [
        f"type=json temperature={at}" for at in range(3)
    ]
    assert all(0 < match["ttl"] <= 60 for match in matches)
    code, lines, _ = run("get", "type=json", "--count", "2")
    assert (code, len(lines)) == (exit_codes.DONE, 2)


def test_a_delete_takes_what_only_overlaps_where_that_is_asked_for(run: Any) -> None:
    assert run("post", "type=wide temperature=10..30", "--data", "between")[0] == 0
    assert run("delete", "type=wide temperature=10..20")[0] == exit_codes.NO_MATCH
    assert run("delete", "type=wide temperature=10..20", "--overlap", "--dry-run")[1] == [
        "1 would be deleted"
    ]
    assert run("delete", "type=wide temperature=10..20", "--overlap")[1] == ["1 deleted"]
    assert run("get", "type=wide")[0] == exit_codes.NO_MATCH


def test_what_anybody_posted_gives_the_terminal_no_orders(run: Any) -> None:
    """On one line, as it is written in Python; in JSON as JSON writes it."""
    assert run("post", 'type="odd\x1b[2J"', "--data", "two\nlines\x1b]0;title\x07")[0] == 0
    code, lines, _ = run("get", "type=odd*")
    assert (code, lines) == (0, [r'type="odd\x1b[2J"' + "\t" + r"two\nlines\x1b]0;title\x07"])
    (line,) = run("get", "type=odd*", "--json")[1]
    assert json.loads(line)["data"] == "two\nlines\x1b]0;title\x07"
    assert run("delete", "type=odd*")[0] == 0


def test_a_name_that_is_nearly_a_dimensions_is_told_of(run: Any) -> None:
    said = "'temperatre' is no dimension; did you mean 'temperature'?"
    assert said in run("post", "type=slip temperatre=21")[2]
    assert run("post", "type=slip temperature=21 room=lab-1")[2] == ""
    code, lines, errors = run("get", "type=slip temperatre=90..")
    assert (code, lines) == (exit_codes.NO_MATCH, [])
    assert "nothing matches" in errors
    assert said in errors
    assert run("get", "type=slip temperatre=20..30")[2] == ""  # found: nothing to say
    assert said in run("watch", "type=slip temperatre=90..", "--timeout", "0.01")[2]


def test_a_payload_comes_from_a_file(run: Any, tmp_path: Path) -> None:
    (tmp_path / "payload").write_bytes(b"\xff\x00")
    run("post", "type=file", "--file", str(tmp_path / "payload"), "--content-type", "image/x")
    (line,) = run("get", "type=file", "--json")[1]
    match = json.loads(line)
    assert (match["data_base64"], match["content_type"]) == ("/wA=", "image/x")


def test_a_watch_prints_what_lives_and_ends_after_its_count(run: Any) -> None:
    run("post", "type=watched temperature=90", "--data", "hot")
    code, lines, errors = run("watch", "type=watched temperature=80..", "--count", "1")
    assert (code, lines) == (exit_codes.DONE, ["type=watched temperature=90\thot"])
    assert "watching" in errors


def test_a_watch_that_sees_nothing_is_no_match(run: Any) -> None:
    assert run("watch", "type=never", "--timeout", "0.2")[0] == exit_codes.NO_MATCH
    assert run("watch", "type=never", "--count", "1", "--timeout", "0.2")[0] == exit_codes.NO_MATCH


def test_a_watch_that_sees_too_few_ran_out_of_time(run: Any) -> None:
    run("post", "type=few temperature=1")
    code, lines, _ = run("watch", "type=few", "--count", "2", "--timeout", "1", "--json")
    assert (code, len(lines)) == (exit_codes.UNREACHABLE, 1)
    assert json.loads(lines[0])["kind"] == "match"


def test_a_watch_for_interests_waits_for_one(run: Any) -> None:
    code, lines, _ = run("watch", "type=lamp temperature=*", "--interests", "--timeout", "0.2")
    assert (code, lines) == (exit_codes.NO_MATCH, [])


def test_the_ring_is_shown(run: Any, address: str) -> None:
    code, lines, _ = run("ring")
    assert code == exit_codes.DONE
    assert address in lines[1]
    assert lines[-1] == "1 peer, the ring is closed"
    (line,) = run("ring", "--json")[1]
    assert json.loads(line)["answers"] is True


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["get", "type="], exit_codes.BAD_INPUT, "^"),
        (["get", "temperature=warm"], exit_codes.BAD_INPUT, "temperature"),
        (["get", "type=*"], exit_codes.REFUSED, "every peer"),
        (["post", "colour=red"], exit_codes.BAD_INPUT, "type, temperature"),
        (["post", "type=a", "--ttl", "-1"], exit_codes.BAD_INPUT, "ttl"),
        (["post", "type=a", "--ttl", "1e9"], exit_codes.BAD_INPUT, "30 days"),
        (["post", "type=a", "--id", "no blanks"], exit_codes.BAD_INPUT, "no blanks"),
        (["post", "type=a b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1"], exit_codes.BAD_INPUT, "attributes"),
        (["delete", "--id", "nothing"], exit_codes.BAD_INPUT, "nothing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_names_its_cause(run: Any, arguments: list[str], code: int, said: str) -> None:
    outcome, lines, errors = run(*arguments)
    assert (outcome, lines) == (code, [])
    assert said in errors
    assert "Traceback" not in errors


def test_nobody_there_is_unreachable(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound but not listening: nobody can take it meanwhile
        address = f"127.0.0.1:{held.getsockname()[1]}"
        assert main(["get", "type=a", "--peer", address]) == exit_codes.UNREACHABLE
    assert address in capsys.readouterr().err


def test_a_port_in_use_is_refused(address: str, space_file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "meteor", "peer", "--listen", address, "--space", str(space_file)],
        cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == exit_codes.REFUSED, done.stderr
    assert "AddressInUse" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("space", "listen", "said"),
    [
        (SPACE, "192.0.2.1:0", "192.0.2.1"),  # an address that no host has (RFC 5737)
        ("name = ", "127.0.0.1:0", "is not TOML"),
        ("\udcff", "127.0.0.1:0", "decode"),
    ],
    ids=["address", "toml", "text"],
)
def test_a_peer_that_cannot_start_says_why(
    tmp_path: Path, space: str, listen: str, said: str
) -> None:
    path = tmp_path / "space.toml"
    path.write_bytes(space.encode("utf-8", "surrogateescape"))
    done = subprocess.run(
        [sys.executable, "-m", "meteor", "peer", "--listen", listen, "--space", str(path),
         "--insecure"],
        cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == exit_codes.BAD_INPUT, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_peer_that_others_reach_does_not_start_in_the_clear(
    space_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["peer", "--listen", "192.0.2.1:0", "--space", str(space_file)]
    assert main(arguments) == exit_codes.REFUSED
    said = capsys.readouterr().err
    assert "--insecure" in said
    assert "meteor certs" in said


def test_a_bootstrap_list_without_an_answer_is_unreachable(space_file: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{held.getsockname()[1]}"
        arguments = ["peer", "--listen", "127.0.0.1:0", "--space", str(space_file)]
        done = subprocess.run(
            [sys.executable, "-m", "meteor", *arguments, "--join", nobody],
            cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == exit_codes.UNREACHABLE, done.stderr
        assert "JoinFailed" in done.stderr
        assert nobody in done.stderr
        peer, _ = start("--space", str(space_file), "--join", nobody, "--found-if-alone")
        assert stop(peer) == (0, "")


def test_a_data_directory_has_one_owner_and_remembers(
    space_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data-dir", str(tmp_path / "data")]
    peer, said = start("--space", str(space_file), *data)
    done = subprocess.run(
        [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0", *data],
        cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == exit_codes.REFUSED, done.stderr
    assert "DataDirLocked" in done.stderr
    assert main(["post", "type=kept", "--data", "still", "--peer", said["address"]]) == 0
    peer.kill()
    peer.communicate(timeout=WAIT_S)
    peer, again = start(*data)  # without --space: it remembers
    assert again["id"] == said["id"]
    capsys.readouterr()
    assert main(["get", "type=kept", "--peer", again["address"]]) == exit_codes.DONE
    assert capsys.readouterr().out == "type=kept\tstill\n"
    assert stop(peer) == (0, "")


def test_interrupting_a_peer_is_130(space_file: Path) -> None:
    peer, _ = start("--space", str(space_file))
    assert stop(peer, signal.SIGINT) == (exit_codes.INTERRUPTED, "")


def test_random_bytes_on_the_port_do_no_harm(run: Any, address: str) -> None:
    host, _, port = address.rpartition(":")
    for noise in (
        b"\x00\xff" * 2000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /messages HTTP/1.1\r\n",
        b"",
    ):
        with socket.create_connection((host, int(port)), timeout=WAIT_S) as link:
            link.sendall(noise)
    assert run("get", "type=still-here")[0] == exit_codes.NO_MATCH


def ask(address: str, verb: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    request = urllib.request.Request(f"http://{address}{path}", data=body, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_rest_is_served_on_the_same_port(address: str) -> None:
    status, text = ask(address, "GET", "/healthz")
    assert (status, json.loads(text)["status"]) == (200, "ok")
    assert "temperature" in ask(address, "GET", "/space")[1]
    profile = urllib.parse.urlencode({"profile": "type=rest temperature=20", "ttl": "60"})
    status, text = ask(address, "POST", f"/profiles?{profile}", b"by curl")
    assert status == 200, text
    select = urllib.parse.urlencode({"select": "type=rest temperature=0..30"})
    status, text = ask(address, "GET", f"/profiles?{select}")
    form = json.loads(text)
    assert form["complete"] is True
    assert [match["data"] for match in form["matches"]] == ["by curl"]
    assert ask(address, "GET", "/profiles?select=type%3D")[0] == 400
    assert ask(address, "DELETE", f"/profiles?{select}")[0] == 200
    assert json.loads(ask(address, "GET", f"/profiles?{select}")[1])["matches"] == []


def test_messages_in_xml_are_posted_and_answered(address: str) -> None:
    document = (
        b'<message id="x1"><header><profile><type value="xml"/><temperature value="110"/>'
        b"</profile><ttl>60000</ttl></header><action>store</action><payload>hi</payload></message>"
    )
    status, text = ask(address, "POST", "/messages", document)
    assert status == 200, text
    assert 'id="x1.' in text
    question = (
        b'<message><header><profile><type value="xml"/><temperature operator="&gt;=" value="80"/>'
        b"</profile></header><action>retrieve</action></message>"
    )
    status, text = ask(address, "POST", "/messages", question)
    assert 'matches="1"' in text
    assert ">hi<" in text
    status, text = ask(address, "POST", "/messages", b"<!DOCTYPE a><message/>")
    assert status == 400
    assert "urn:meteor:error:" in text
