"""`meteor doctor`: every illness it knows is found where it is, and nowhere else."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import meteor
from chord import Contact
from meteor.cli import exit_codes, main
from meteor.journal.directory_lock import DirectoryLock
from meteor.operation import findings
from meteor.operation.findings import (
    Asked,
    Finding,
    PeerFacts,
    of_asking,
    of_expiry,
    of_peer,
    of_picture,
)
from meteor.operation.rounds import metric_values
from meteor.operation.settings_check import PeerSettings, of_settings
from meteor.operation.snapshot import copies_missing
from tests.certificates import NOW, tls
from tests.meteor.ring_beside import RingBeside
from tests.meteor.websocket_peers import until


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("METEOR_")]:
        monkeypatch.delenv(name)


def peer(number: int, data: int = 0, **options: Any) -> meteor.Neighbour:
    contact = Contact(number * 1000, f"10.0.0.{number}:7400")
    defaults = {"answers": True, "data": data, "interests": 0, "copies": 3}
    return meteor.Neighbour(contact, 0, data, **(defaults | options))


def said(findings: Iterator[Finding]) -> list[tuple[str, str, str]]:
    """Severity, subject and what is wrong; every finding has a cure."""
    found = list(findings)
    assert all(one.cure for one in found)
    return [(one.severity, one.subject, one.what) for one in found]


def test_a_healthy_ring_has_no_findings() -> None:
    members = frozenset({1, 2})
    assert not said(of_asking([Asked("a:1", members=members), Asked("b:1", members=members)]))
    assert not said(of_picture(meteor.RingPicture((peer(1, 900), peer(2, 950)), closed=True)))
    assert not said(of_peer(PeerFacts("10.0.0.1:1", protected=True), NOW))
    assert not said(of_peer(PeerFacts("127.0.0.1:1", protected=False, clock_offset_s=0.9), NOW))


def test_addresses_that_do_not_answer_and_rings_apart_are_found() -> None:
    asked = [
        Asked("a:1", members=frozenset({1, 2})),
        Asked("b:1", error="nobody listens"),
        Asked("c:1", members=frozenset({3})),
    ]
    assert said(of_asking(asked)) == [
        ("problem", "b:1", "no answer: nobody listens"),
        ("problem", "ring", "2 rings, which do not know each other: a:1; c:1"),
    ]
    seen_differently = [
        Asked("a:1", members=frozenset({1, 2})),
        Asked("b:1", members=frozenset({2})),
    ]
    assert not said(of_asking(seen_differently))  # one is joining: they know each other


def test_what_a_walk_round_the_ring_shows_is_found() -> None:
    peers = (peer(1), peer(2, answers=False), peer(3, lost=((0, 9), (20, 29), (40, 49), (60, 69))))
    found = said(of_picture(meteor.RingPicture(peers, closed=False)))
    assert [(severity, subject) for severity, subject, _ in found] == [
        ("problem", "ring"), ("problem", "10.0.0.2:7400"), ("problem", "10.0.0.3:7400")
    ]  # fmt: skip
    assert found[2][2] == "nobody holds the past of 0-9, 20-29, 40-49 and 1 more: lost"
    assert said(of_picture(meteor.RingPicture((peer(1),), closed=True)))[0][1:] == (
        "ring", "one peer alone: nobody has a copy of anything"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("loads", "skewed"),
    [((1000, 50, 50, 50, 50), True), ((400, 200, 300), False), ((90, 1, 1, 1), False)],
)
def test_a_load_far_above_the_mean_is_found_where_there_is_one(
    loads: tuple[int, ...], skewed: bool
) -> None:
    peers = tuple(peer(number, load) for number, load in enumerate(loads))
    found = said(of_picture(meteor.RingPicture(peers, closed=True)))
    assert bool(found) is skewed
    if skewed:
        assert found == [("warning", "10.0.0.0:7400", "carries 1,000 records, 4.2 × the mean")]


@pytest.mark.parametrize(
    ("facts", "severity", "what"),
    [
        ({"error": "refused"}, "warning", "do not answer: refused"),
        ({"unready": "this peer leaves its ring"}, "warning", "not ready: this peer leaves"),
        ({"protected": False}, "problem", "in the clear"),
        ({"clock_offset_s": 7.0}, "warning", "its clock is 7 s ahead of"),
        ({"clock_offset_s": -90.0}, "problem", "its clock is 90 s behind"),
        ({"certificate_ends": 3}, "warning", "in 3 days"),
        ({"certificate_ends": -3}, "problem", "the certificate ended on"),
        ({"copies_missing": 2.0}, "warning", "2 copies fewer than asked"),
        ({"journal_damaged": True}, "warning", "its journal had lost something"),
        ({"lateness_s": 0.25}, "warning", "ran 250 ms late"),
        ({"commit_mean_s": 0.12}, "warning", "takes 120 ms"),
    ],
    ids=str,
)
def test_what_a_peer_says_of_itself_is_judged(
    facts: dict[str, Any], severity: str, what: str
) -> None:
    if "certificate_ends" in facts:  # in days: a date in the test's name would change with it
        facts = {"certificate_ends": NOW + timedelta(days=facts["certificate_ends"])}
    (found,) = said(
        of_peer(PeerFacts(**({"address": "10.0.0.1:1", "protected": True} | facts)), NOW)
    )
    assert found[:2] == (severity, "10.0.0.1:1")
    assert what in found[2]


def test_certificates_are_warned_of_two_weeks_before_they_end() -> None:
    assert not said(of_expiry("a.pem", NOW + timedelta(days=15), NOW))
    assert said(of_expiry("a.pem", NOW + timedelta(days=13), NOW))


def test_metrics_of_what_is_no_peer_are_none() -> None:
    assert metric_values("<html>{}") == {}
    assert metric_values("") == {}
    assert metric_values('a_total{b="c"} 3\nd 4.5\n') == {"a_total": 3.0, "d": 4.5}


# ---- settings


def settings(**options: Any) -> PeerSettings:
    given = {"listen": "127.0.0.1:7400", "join": ("a:1",), "data_dir": Path.cwd()}
    return PeerSettings(**(given | options))


def tls_settings(shown: meteor.TLS, **options: Any) -> PeerSettings:
    files = {"tls_ca": shown.ca, "tls_cert": shown.cert, "tls_key": shown.key}
    return settings(listen="10.0.0.5:7400", **(files | options))


def wrong(given: PeerSettings, *, serving: bool = False) -> str:
    """The only thing that is wrong with these settings, as text; empty when nothing is."""
    found = said(of_settings(given, NOW, serving=serving))
    assert len(found) <= 1, found
    return " ".join(found[0]) if found else ""


def test_right_settings_have_no_findings() -> None:
    shown = tls("10.0.0.5")
    for path in (shown.key,):
        Path(str(path)).chmod(0o600)
    assert wrong(settings()) == ""
    assert wrong(tls_settings(shown)) == ""


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"listen": "10.0.0.5:7400"}, "problem listen the peer refuses to serve 10.0.0.5:7400"),
        ({"listen": "10.0.0.5:7400", "insecure": True}, "warning insecure 10.0.0.5:7400 serves"),
        ({"listen": "0.0.0.0:7400", "insecure": True, "advertise": "10.0.0.5:1"}, "0.0.0.0:7400"),
        ({"data_dir": None}, "warning data_dir none"),
        ({"data_dir": Path("/nowhere/below")}, "/nowhere does not exist"),
        ({"data_dir": Path("/etc/hostname")}, "is no directory"),
        ({"space": Path("/nowhere.toml")}, "problem space /nowhere.toml"),
        ({"policy": Path("/nowhere.toml")}, "problem policy policy /nowhere.toml: [Errno 2]"),
        ({"found_if_alone": True, "join": ()}, "warning found_if_alone"),
    ],
    ids=str,
)
def test_wrong_settings_are_found(options: dict[str, Any], what: str) -> None:
    assert what in wrong(settings(**options))


def test_a_wildcard_nobody_can_dial_is_found() -> None:
    found = said(of_settings(settings(listen="0.0.0.0:1", insecure=True), NOW, serving=False))
    assert ("problem", "listen", "nobody can dial 0.0.0.0:1") in found


def test_a_locked_directory_is_a_problem_unless_the_peer_answers(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path / "meteor.lock")
    assert f"locked by process {os.getpid()}" in wrong(settings(data_dir=tmp_path))
    assert wrong(settings(data_dir=tmp_path), serving=True) == ""
    lock.release()
    assert wrong(settings(data_dir=tmp_path)) == ""


@pytest.mark.parametrize(
    ("shown", "options", "what"),
    [
        (tls("10.0.0.6"), {}, "names 10.0.0.6, not 10.0.0.5"),
        (tls("10.0.0.5", ca="theirs"), {}, "but by 'theirs'"),
        (tls("10.0.0.5", expired=True), {}, "the certificate ended on"),
        (tls("10.0.0.5"), {"tls_key": None}, "a peer needs cert and key"),
        (tls("10.0.0.5"), {"tls_ca": Path("/nowhere.pem")}, "No such file"),
        (tls("10.0.0.5"), {"advertise": "db1:7400"}, "names 10.0.0.5, not db1"),
    ],
)
def test_wrong_certificates_are_found(
    shown: meteor.TLS, options: dict[str, Any], what: str
) -> None:
    Path(str(shown.key)).chmod(0o600)
    assert what in wrong(tls_settings(shown, **options))


def test_a_key_that_others_can_read_is_found(tmp_path: Path) -> None:
    shown = tls("10.0.0.5")
    key = Path(shutil.copy(str(shown.key), tmp_path))
    key.chmod(0o644)
    assert "may read the private key" in wrong(tls_settings(shown, tls_key=key))


# ---- the command


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What was printed for programs, by its subject."""
    *found, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert end["problems"] + end["warnings"] == len(found)
    return {one["subject"]: one for one in found}


@pytest.mark.sockets
def test_the_doctor_looks_at_a_ring_and_at_the_settings_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # how late this machine's loops run, and how fast its disk is, is no part of the test
    monkeypatch.setattr(findings, "LATENESS_WARNING_S", math.inf)
    monkeypatch.setattr(findings, "COMMIT_WARNING_S", math.inf)
    with RingBeside(3, tls=tls("127.0.0.1")) as ring:
        ring.do(until(lambda: all(copies_missing(one.core) == 0 for one in ring.peers)))
        ask = ["doctor", "--peer", ring.addresses[0], "--tls-ca", str(tls("127.0.0.1").ca)]
        assert main(ask) == exit_codes.DONE
        shown = capsys.readouterr().out
        assert "3 peers, closed, nothing lost" in shown
        assert "0 problems, 0 warnings" in shown
        assert main([*ask, "--peer", "127.0.0.1:1", "--json"]) == exit_codes.INCOMPLETE
        told_all = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert len(told_all) == 2, told_all
        found, end = told_all
        assert (found["severity"], found["subject"]) == ("problem", "127.0.0.1:1")
        assert "nobody listens" in found["what"]
        assert end == {"problems": 1, "warnings": 0}
        assert main([*ask, "--json"]) == exit_codes.DONE
        assert json.loads(capsys.readouterr().out) == {"problems": 0, "warnings": 0}
        monkeypatch.setenv("METEOR_LISTEN", "10.0.0.5:7400")
        monkeypatch.setenv("METEOR_DATA_DIR", str(tmp_path))
        assert main(ask) == exit_codes.BAD_INPUT
        assert "refuses to serve 10.0.0.5:7400 without TLS" in capsys.readouterr().out


def test_a_value_that_no_peer_would_take_is_a_finding_among_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "meteor.toml").write_text(
        '[peer]\nspace = "missing.toml"\nlisten = "10.0.0.5:7400"\n[client]\npeer = "127.0.0.1:1"\n'
    )
    assert main(["doctor", "--timeout", "2", "--json"]) == exit_codes.BAD_INPUT
    found = told(capsys)
    assert "missing.toml' does not exist" in found["space"]["what"]
    assert "[peer] space in" in found["space"]["cure"]
    assert "refuses to serve 10.0.0.5:7400" in found["listen"]["what"]


def test_with_files_that_make_no_link_the_settings_are_looked_at_all_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "meteor.toml").write_text(
        '[peer]\nspace = "missing.toml"\nlisten = "127.0.0.1:1"\n[tls]\ncert = "only.pem"\n'
    )
    assert main(["doctor", "--json"]) == exit_codes.BAD_INPUT
    found = told(capsys)
    assert "the ring was not asked" in found["client"]["what"]
    assert "missing.toml' does not exist" in found["space"]["what"]
    assert "cert and key without ca" in found["tls"]["what"]


def test_nobody_to_look_at_is_unreachable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--peer", "127.0.0.1:1", "--timeout", "2"]) == exit_codes.UNREACHABLE
    assert "1 problem, 0 warnings" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "-----BEGIN CERTIFICATE-----"])
def test_a_ca_that_cannot_be_read_is_no_fault_of_the_ring(
    content: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It said that nobody answers, and to look after a firewall."""
    ca = str(tmp_path / "ca.pem")
    Path(ca).write_text(content)
    ask = ["doctor", "--peer", "127.0.0.1:1", "--tls-ca", ca, "--json"]
    assert main(ask) == exit_codes.BAD_INPUT
    ((subject, found),) = told(capsys).items()
    assert (subject, "not asked: tls: ca" in found["what"]) == ("client", True)
