"""`meteor certs`: what it makes, what it never writes over, and reading certificates again."""

from __future__ import annotations

import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import meteor
from meteor import TLS
from meteor.cli import main
from meteor.security.certificates import (
    KeyPair,
    is_issued_by,
    make_authority,
    make_certificate,
    read_certificate,
)
from tests.certificates import NOW, authority


def test_a_certificate_says_what_it_was_made_for() -> None:
    pair = make_certificate(authority(), ["10.0.0.5", "db1.lan", "::1"], now=NOW, days=30)
    facts = read_certificate(pair.certificate)
    assert facts.hosts == ("db1.lan", "10.0.0.5", "::1")
    assert (facts.name, facts.issuer, facts.is_authority) == ("10.0.0.5", "ours", False)
    assert facts.first < NOW < facts.last
    assert abs(facts.last - NOW - timedelta(days=30)) <= timedelta(seconds=1)
    assert is_issued_by(pair.certificate, authority().certificate)
    assert not is_issued_by(pair.certificate, authority("theirs").certificate)


def test_a_clients_certificate_names_no_host_and_serves_nobody() -> None:
    pair = make_certificate(authority(), [], now=NOW, name="ann")
    facts = read_certificate(pair.certificate)
    assert (facts.name, facts.hosts) == ("ann", ())
    assert b"BEGIN CERTIFICATE" in pair.certificate


@pytest.mark.parametrize("host", ["a b", "a/b", "", "zürich", "a..b", "*"])
def test_what_is_no_host_gets_no_certificate(host: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        make_certificate(authority(), [host], now=NOW, name="x")


def test_a_host_of_a_long_name_gets_its_certificate() -> None:
    """A common name has 64 characters at most, a host's up to 253; a client has that name alone."""
    host = ".".join(["peer-1", "a" * 50, "b" * 50, "internal.example.org"])
    for name in ("", host):
        pair = make_certificate(authority(), [host, "10.0.0.5"], now=NOW, name=name)
        facts = read_certificate(pair.certificate)
        assert facts.hosts == (host, "10.0.0.5")
        assert host.startswith(facts.name)
    with pytest.raises(meteor.LimitExceeded, match="name"):
        make_certificate(authority(), [], now=NOW, name="x" * 65)


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_days_are_bounded(days: int) -> None:
    with pytest.raises(meteor.LimitExceeded):
        make_certificate(authority(), ["a"], now=NOW, days=days)


def test_a_ca_signs_with_its_own_key_only() -> None:
    mixed = KeyPair(authority().certificate, authority("theirs").key)
    with pytest.raises(meteor.CertificateError, match="belong together"):
        make_certificate(mixed, ["a"], now=NOW)
    leaf = make_certificate(authority(), ["a"], now=NOW)
    with pytest.raises(meteor.CertificateError, match="belong together"):
        make_certificate(leaf, ["b"], now=NOW)
    for broken in (b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"):
        with pytest.raises(meteor.CertificateError):
            read_certificate(broken)


def test_certs_makes_files_that_tls_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "certs"
    asked = ["certs", "--hosts", "127.0.0.1+localhost, ::1", "--client", "ann", "--out", str(out)]
    assert main([*asked, "--days", "30", "--json"]) == 0
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ends = {datetime.fromisoformat(one["valid_until"]) for one in made}
    assert all(timedelta(29) < end - datetime.now(UTC) <= timedelta(30) for end in ends)
    assert [one["hosts"] for one in made] == [["localhost", "127.0.0.1"], ["::1"], []]
    for one in made:
        TLS(ca=one["ca"], cert=one["cert"], key=one["key"]).client_context()
    keys = sorted(out.glob("*-key.pem"))
    assert [key.name for key in keys] == [
        "127.0.0.1-key.pem", "__1-key.pem", "ann-key.pem", "ca-key.pem",
    ]  # fmt: skip
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


def test_certs_adds_hosts_and_writes_over_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certs", "--hosts", "a", "--out", str(tmp_path)]) == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["certs", "--hosts", "b,a", "--out", str(tmp_path)]) == 2
    assert "--renew" in capsys.readouterr().err
    assert main(["certs", "--hosts", "b", "--out", str(tmp_path)]) == 0
    assert {path: path.read_bytes() for path in before} == before
    assert is_issued_by((tmp_path / "b.pem").read_bytes(), (tmp_path / "ca.pem").read_bytes())
    assert main(["certs", "--hosts", "a", "--renew", "--out", str(tmp_path)]) == 0
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {"a.pem", "a-key.pem"}


@pytest.mark.parametrize(
    "arguments",
    [[], ["--hosts", ","], ["--hosts", "a,a"], ["--hosts", "ca"], ["--hosts", "../a"],
     ["--hosts", "a", "--client", "a"], ["--hosts", "a b"], ["--client", ".hidden"]],
    ids=str,
)  # fmt: skip
def test_certs_refuses_names_that_make_no_file_or_host(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certs", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert "Error" in capsys.readouterr().err
    assert not list(tmp_path.rglob("a*.pem"))


def test_certs_says_what_is_wrong_with_a_ca_that_cannot_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ca.pem").write_bytes(make_authority("x", now=NOW).certificate)
    assert main(["certs", "--hosts", "a", "--out", str(tmp_path)]) == 2
    assert "ca-key.pem beside it" in capsys.readouterr().err
    (tmp_path / "ca-key.pem").write_bytes(authority().key)
    assert main(["certs", "--hosts", "a", "--out", str(tmp_path)]) == 2
    assert "belong together" in capsys.readouterr().err


def test_python_verifies_what_is_made_strictly() -> None:
    """Newer Pythons demand what RFC 5280 demands."""
    context = ssl.create_default_context(cadata=authority().certificate.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    pair = make_certificate(authority(), ["peer.lan"], now=NOW)
    assert handshake(context, pair, "peer.lan") == "peer.lan"
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(context, pair, "other.lan")


def handshake(context: ssl.SSLContext, pair: KeyPair, host: str) -> str:
    """A handshake in memory with who has this pair; the name in its certificate."""
    from tests.certificates import directory

    file = directory() / "strict.pem"
    file.write_bytes(pair.certificate + pair.key)
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(file)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=host)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    certificate = client.getpeercert()
    assert certificate is not None
    return str(certificate["subjectAltName"][0][1])
