"""The process around a peer: whom it finds, what it tells systemd, how it ends, what it logs."""

from __future__ import annotations

import io
import json
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import meteor
from meteor.cli import exit_codes, main
from meteor.operation.discovery import LocalNetwork, addresses_in
from meteor.operation.logs import JsonFormatter, log_to
from tests.certificates import tls
from tests.meteor.test_cli_peer import SPACE, start, stop


@pytest.fixture(scope="module")
def space_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("space") / "space.toml"
    path.write_text(SPACE)
    return path


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A service manager's end of NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        path = str(tmp_path / "notify")
        listening.bind(path)
        listening.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        yield listening


@pytest.mark.processes
@pytest.mark.sockets
def test_sigterm_hands_over_first_and_the_service_manager_is_told(
    space_file: Path,
    tmp_path: Path,
    manager: socket.socket,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With one copy of everything, what the leaver held is elsewhere only if it was given."""
    first, said = start("--space", str(space_file), "--copies", "1", "--placement", "hash",
                        "--log-level", "info", "--log-format", "json")  # fmt: skip
    assert manager.recv(100) == b"READY=1"
    listed = tmp_path / "peers"
    listed.write_text(f"# the first one\n{said['address']}  # here\n")
    second, there = start("--join-file", str(listed), "--copies", "1", "--placement", "hash")
    assert manager.recv(100) == b"READY=1"
    rows = tmp_path / "rows.csv"
    rows.write_text("temperature\n" + "".join(f"{n}\n" for n in range(-40, 125, 5)))
    posted = main(["post", "type=life", "--csv", str(rows), "--map", "temperature=temperature",
                   "--peer", said["address"]])  # fmt: skip
    assert posted == exit_codes.DONE
    code, logged = stop(first)
    assert code == 0
    assert json.loads(logged.splitlines()[0])["message"].endswith(f"serves at {said['address']}")
    assert manager.recv(100) == b"STOPPING=1"
    capsys.readouterr()
    assert main(["get", "type=life", "--peer", there["address"]]) == exit_codes.DONE
    assert len(capsys.readouterr().out.splitlines()) == 33
    assert stop(second, signal.SIGINT)[0] == exit_codes.INTERRUPTED


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.sockets
def test_a_second_signal_ends_a_peer_at_once(space_file: Path, manager: socket.socket) -> None:
    """Its neighbour is held, so that handing over takes longer than anybody wants to wait."""
    first, said = start("--space", str(space_file))
    second, _ = start("--join", said["address"])
    assert [manager.recv(100), manager.recv(100)] == [b"READY=1", b"READY=1"]
    second.send_signal(signal.SIGSTOP)
    first.send_signal(signal.SIGTERM)
    assert manager.recv(100) == b"STOPPING=1"
    assert stop(first) == (128 + signal.SIGTERM, "")
    second.kill()
    second.communicate()


@pytest.mark.processes
@pytest.mark.sockets
def test_a_peer_runs_on_uvloop_under_tls_too(
    space_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("uvloop")
    shown = tls("127.0.0.1")
    files = ["--tls-ca", str(shown.ca), "--tls-cert", str(shown.cert), "--tls-key", str(shown.key)]
    peer, said = start("--space", str(space_file), "--loop", "uvloop", *files)
    reach = ["--peer", said["address"], *files[:2]]
    assert main(["post", "type=fast", "--data", "sooner", *reach]) == exit_codes.DONE
    assert main(["get", "type=fast", *reach]) == exit_codes.DONE
    assert capsys.readouterr().out.endswith("type=fast\tsooner\n")
    assert stop(peer) == (0, "")


@pytest.mark.processes
@pytest.mark.sockets
def test_a_peer_may_ask_its_clients_for_a_certificate(
    space_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = tls("127.0.0.1")
    files = ["--tls-ca", str(shown.ca), "--tls-cert", str(shown.cert), "--tls-key", str(shown.key)]
    peer, said = start("--space", str(space_file), "--client-certificates", *files)
    reach = ["get", "type=none", "--timeout", "5", "--peer", said["address"]]
    assert main([*reach, *files[:2]]) == exit_codes.UNREACHABLE
    assert said["address"] in capsys.readouterr().err
    assert main([*reach, *files]) == exit_codes.NO_MATCH
    assert stop(peer)[0] == 0


@pytest.mark.parametrize(
    ("module", "option", "extra"),
    [("uvloop", ("--loop", "uvloop"), "[fast]"), ("zeroconf", ("--zeroconf", "x"), "[zeroconf]")],
)
def test_an_extra_that_is_not_there_is_named(
    space_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    option: tuple[str, str],
    extra: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    asked = ["peer", "--listen", "127.0.0.1:0", "--space", str(space_file), *option]
    assert main(asked) == exit_codes.BAD_INPUT
    assert f"pip install 'meteor-rendezvous{extra}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("# none\n\n  \n", []),
        ("10.0.0.5:7400\n peer-2.lan:7400 # b\n", ["10.0.0.5:7400", "peer-2.lan:7400"]),
        ("[::1]:1", ["[::1]:1"]),
    ],
)
def test_a_file_of_peers_has_an_address_a_line(text: str, found: list[str]) -> None:
    assert addresses_in(text) == found


@pytest.mark.parametrize("text", ["10.0.0.5", "a:1\nb\n", "a:1 b:2", "a:0"])
def test_what_is_no_address_is_named_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"line [12]: .* host:port"):
        addresses_in(text)
    path = tmp_path / "peers"
    path.write_text(text)
    assert main(["peer", "--join-file", str(path)]) == exit_codes.BAD_INPUT


@pytest.mark.sockets
async def test_peers_of_one_name_find_each_other_on_the_network() -> None:
    here = ["127.0.0.1"]
    async with LocalNetwork("lab", interfaces=here) as announcing:
        await announcing.announce("127.0.0.1:7411", 5)
        async with LocalNetwork("lab", interfaces=here) as looking:
            assert await looking.find(0.7) == ["127.0.0.1:7411"]
            looking.ring = "another"
            assert await looking.find(0.2) == []
        with pytest.raises(meteor.MeteorError, match="cannot be announced"):
            await announcing.announce("peer.lan:7400", 6)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("meteor p", {"peer", "post"}),
        ("meteor peer --pres", {"--preset"}),
        ("meteor peer --preset ", {"local", "lan", "wan"}),
        ("meteor ring ", {"forget"}),
        ("meteor post --cs", {"--csv"}),
    ],
)
def test_the_shell_completes_commands_options_and_values(
    words: str,
    wanted: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_METEOR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit):
        main([])
    offered = {line.partition(",")[2] for line in capsys.readouterr().out.splitlines()}
    assert wanted <= offered
    assert len(offered) <= len(wanted) + 3


@pytest.fixture
def _own_logging() -> Iterator[None]:
    """Leaves the root logger as it was."""
    root, ours = logging.getLogger(), logging.getLogger("meteor")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


@pytest.mark.usefixtures("_own_logging")
def test_logs_are_json_lines_where_asked() -> None:
    stream = io.StringIO()
    log_to(stream, "json", "info")
    log = logging.getLogger("meteor.peer")
    log.info("holds %d arcs", 2, extra={"peer": "a1"})
    log.debug("not asked for")
    logging.getLogger("other").info("nor this")
    log.error("failed", exc_info=ValueError("wörds"))
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info", "logger": "meteor.peer", "message": "holds 2 arcs", "peer": "a1"
    }  # fmt: skip
    assert second["level"] == "error"
    assert second["error"].endswith("ValueError: wörds")


@pytest.mark.usefixtures("_own_logging")
def test_logs_are_for_people_otherwise() -> None:
    stream = io.StringIO()
    log_to(stream)
    logging.getLogger("meteor.peer").warning("late by %s", "a second")
    assert stream.getvalue().endswith("WARNING meteor.peer: late by a second\n")


def test_what_json_cannot_say_is_logged_as_text() -> None:
    record = logging.makeLogRecord({"msg": "x", "name": "meteor", "contact": object()})
    assert "<object object" in json.loads(JsonFormatter().format(record))["contact"]
