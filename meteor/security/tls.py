"""TLS of a ring: one CA, and a certificate a host (transport.md section 7; SPEC section 4).

Law of this file: it names files, loads them, and compares names; what is wrong with a file is said
with its path.  Peers always authenticate each other: who shows no certificate of the ring's CA is
a client at most, and one that shows a wrong one is nobody.  A peer's certificate must name the
host under which it introduces itself, so that a member cannot take another's place and a client's
certificate makes no peer.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from meteor.errors import CertificateError
from meteor.wrong_values import check_path, checked_truth

PeerCertificate = Mapping[str, Any]
"""What `ssl` says of the other side's certificate, verified: `SSLSocket.getpeercert()`."""

HANDSHAKE_TIMEOUT_S: Final = 5.0
"""How long the other side may take for a handshake: its memory is ours until then."""

_NAME, _ADDRESS = "DNS", "IP Address"
"""Kinds of alternative names, as `ssl` calls them."""


@dataclass(frozen=True, kw_only=True)
class TLS:
    """The files with which a peer or client speaks TLS, in PEM form.

    `ca` holds the certificates that are trusted: the ring's own CA, never the public ones, whose
    customers are not members.  `cert` (with its chain) and `key` say who we are: a peer needs them,
    a client where the peers ask for them.  With `client_certificates` a peer takes no client, REST
    included, that shows no certificate of the CA.

    Raises `TypeError` and `ValueError` for what is no path and no truth; loading raises
    `CertificateError` with the path and what is wrong."""

    ca: str | Path
    cert: str | Path | None = None
    key: str | Path | None = None
    client_certificates: bool = False

    def __post_init__(self) -> None:
        if (self.cert is None) != (self.key is None):
            given, other = ("cert", "key") if self.key is None else ("key", "cert")
            raise ValueError(f"tls: {given} without {other}; give both, or neither for a client")
        for name in ("ca", "cert", "key"):
            path = getattr(self, name)
            if path is not None or name == "ca":
                check_path(f"tls: {name}", path)
        checked_truth("tls: client_certificates", self.client_certificates)

    def check_peer(self) -> None:
        """Refuse what no peer can do with; raises `ValueError`."""
        if self.cert is None:
            raise ValueError("tls: a peer needs cert and key: it proves to others that it belongs")

    def end_s(self) -> float | None:
        """When the own certificate ends, in seconds of Unix time; None without one.  Raises
        `CertificateError`."""
        if self.cert is None:
            return None
        from meteor.security.certificates import read_certificate  # noqa: PLC0415 - it is slow

        try:
            return read_certificate(Path(self.cert).read_bytes(), str(self.cert)).last.timestamp()
        except OSError as error:
            raise _unreadable("cert", self.cert, error) from error

    def server_context(self) -> ssl.SSLContext:
        """How to take connections; raises `CertificateError`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Sensors' HTTP stacks are old: 1.2 at the door, which renegotiates nothing.
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        asked = ssl.CERT_REQUIRED if self.client_certificates else ssl.CERT_OPTIONAL
        context.verify_mode = asked
        return self.load_into(context)

    def client_context(self) -> ssl.SSLContext:
        """How to open connections, the host's name checked; raises `CertificateError`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return self.load_into(context)

    def load_into(self, context: ssl.SSLContext) -> ssl.SSLContext:
        """Let a context use what the files hold now; what it trusted before it goes on trusting.
        Raises `CertificateError`."""
        try:
            context.load_verify_locations(cafile=self.ca)
        except (OSError, ssl.SSLError) as error:
            raise _unreadable("ca", self.ca, error) from error
        if self.cert is not None and self.key is not None:
            try:
                context.load_cert_chain(self.cert, self.key, password=_no_passphrase)
            except (OSError, ssl.SSLError) as error:
                raise _unreadable("cert and key", f"{self.cert}, {self.key}", error) from error
        return context


def refusal_of_peer(certificate: PeerCertificate | None, host: str) -> str | None:
    """Why who shows this certificate is not the peer at `host`; None if it is."""
    if not certificate:
        return "a peer of this ring shows a certificate of its CA: give cert and key"
    if names_host(certificate, host):
        return None
    names = ", ".join(names_of(certificate)) or "no host"
    return f"the certificate names {names}, not {host}: make one with `meteor certs --hosts {host}`"


def names_of(certificate: PeerCertificate) -> list[str]:
    """The hosts that a certificate names, addresses among them."""
    return _alternatives(certificate, _NAME) + _alternatives(certificate, _ADDRESS)


def names_host(certificate: PeerCertificate, host: str) -> bool:
    """Whether a certificate is of this host, by RFC 6125: addresses exactly, names without regard
    to case, a star for one whole first label.

    OpenSSL does this for whom we dial; whom we accept it does not ask."""
    try:
        address = ip_address(host)
    except ValueError:
        names = _alternatives(certificate, _NAME)
        return any(_covers(name.lower(), host.lower()) for name in names)
    return any(_is_address(name, address) for name in _alternatives(certificate, _ADDRESS))


def _alternatives(certificate: PeerCertificate, wanted: str) -> list[str]:
    found = certificate.get("subjectAltName", ())
    return [value.strip() for kind, value in found if kind == wanted]


def _covers(name: str, host: str) -> bool:
    if not name.startswith("*."):
        return name == host
    label, separator, rest = host.partition(".")
    return bool(label and separator) and rest == name[2:] and "." in rest


def _is_address(name: str, address: object) -> bool:
    try:
        return ip_address(name) == address
    except ValueError:
        return False


def _no_passphrase() -> str:
    """OpenSSL would ask on the terminal, where a daemon has nobody to answer."""
    return ""


def _unreadable(what: str, path: str | Path, error: OSError) -> CertificateError:
    if not isinstance(error, ssl.SSLError):
        reason = error.strerror or str(error)
    elif error.reason == "KEY_VALUES_MISMATCH":
        reason = "the key is not that of the certificate"
    elif error.reason is None or "PASSWORD" in error.reason or "DECRYPT" in error.reason:
        reason = "no PEM form, or a key with a passphrase, which nobody could type"
    else:
        reason = error.reason.lower().replace("_", " ")
    return CertificateError(f"tls: {what} ({path}) cannot be used: {reason}", str(path))
