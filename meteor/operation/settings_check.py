"""What is wrong with the settings of a peer on this machine.

Law of this file: it reads files and limits, and changes nothing; what it saw is judged by plain
rules, each finding with its cure.
"""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from meteor.errors import MeteorError
from meteor.links.address import WILDCARD_HOSTS, host_of, is_loopback
from meteor.operation.findings import Finding, of_expiry
from meteor.security.certificates import is_issued_by, read_certificate
from meteor.security.policy_file import PolicyFile
from meteor.security.tls import TLS
from squid import KeywordSpace

FILES_MIN: Final = 1024
"""Open files that a peer of a larger ring needs: 64 links, the clients' and the journal's."""
DISK_MIN_BYTES: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """The settings that can be wrong on their own."""

    listen: str
    advertise: str | None = None
    insecure: bool = False
    join: tuple[str, ...] = ()
    found_if_alone: bool = False
    space: Path | None = None
    data_dir: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    policy: Path | None = None

    @property
    def reached_at(self) -> str:
        """The address that others dial."""
        return self.advertise or self.listen


def of_settings(settings: PeerSettings, now: datetime, *, serving: bool) -> Iterator[Finding]:
    """Everything that is wrong; `serving` says whether the peer answers at its address now."""
    yield from _of_addresses(settings)
    yield from _of_space(settings)
    if settings.data_dir is None:
        yield Finding(
            "warning", "data_dir", "none: what is stored here is gone when the peer stops",
            "name a directory of its own, on a local disk",
        )  # fmt: skip
    else:
        yield from _of_directory(settings.data_dir, serving)
    yield from _of_tls(settings, now)
    yield from _of_policy(settings.policy)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < FILES_MIN:
        yield Finding(
            "warning", "limits", f"{files} open files a process",
            "raise it: `ulimit -n 8192`, or LimitNOFILE=8192 in the unit",
        )  # fmt: skip


def _of_addresses(settings: PeerSettings) -> Iterator[Finding]:
    if settings.advertise is None and settings.listen.rpartition(":")[0] in WILDCARD_HOSTS:
        yield Finding(
            "problem", "listen", f"nobody can dial {settings.listen}",
            "say by advertise how others reach this peer",
        )  # fmt: skip
    if settings.tls_ca is None and not is_loopback(settings.listen):
        if settings.insecure:
            yield Finding(
                "warning", "insecure", f"{settings.listen} serves other machines in the clear",
                "give it TLS; `meteor certs` makes what it needs",
            )  # fmt: skip
        else:
            yield Finding(
                "problem", "listen", f"the peer refuses to serve {settings.listen} without TLS",
                "set ca, cert and key in [tls]; `meteor certs` makes them",
            )  # fmt: skip
    if settings.found_if_alone and not settings.join:
        yield Finding(
            "warning", "found_if_alone", "says nothing without join: the peer founds a ring",
            "name the others by join, so that it comes back to their ring after a restart",
        )  # fmt: skip


def _of_space(settings: PeerSettings) -> Iterator[Finding]:
    path = settings.space
    if path is None:
        if not settings.join and settings.data_dir is None:
            yield Finding(
                "problem", "space", "a founder without a keyword space",
                "name a file with space, or the ring to join with join",
            )  # fmt: skip
        return
    try:
        KeywordSpace.from_toml(path.read_text("utf-8"))
    except (OSError, ValueError, MeteorError) as error:
        yield Finding("problem", "space", f"{path}: {error}", "see `meteor peer --help`")


def _of_directory(path: Path, serving: bool) -> Iterator[Finding]:
    existing = path if path.exists() else path.parent
    if path.exists() and not path.is_dir():
        yield Finding("problem", "data_dir", f"{path} is no directory", "name another")
        return
    if not existing.is_dir():
        yield Finding("problem", "data_dir", f"{existing} does not exist", f"mkdir -p {existing}")
        return
    if not os.access(existing, os.W_OK):
        yield Finding(
            "problem", "data_dir", f"{existing} cannot be written by this user",
            f"let the peer's user own it: chown -R meteor {path}",
        )  # fmt: skip
        return
    holder = holder_of(path)
    if holder and not serving:
        yield Finding(
            "problem", "data_dir", f"{path} is locked by process {holder}, and no peer answers",
            f"look what process {holder} is; stop it, or give this peer another directory",
        )  # fmt: skip
    free = shutil.disk_usage(existing).free
    if free < DISK_MIN_BYTES:
        yield Finding(
            "warning", "data_dir", f"{free // 1024**2} MiB are free on its disk",
            "make room: a peer whose disk is full stops, and the others go on with its copies",
        )  # fmt: skip


def holder_of(path: Path) -> str:
    """Who has locked a data directory; empty if nobody."""
    for lock in sorted(path.glob("*.lock")):
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(32).decode("ascii", "replace").strip() or "unknown"
    return ""


def _of_policy(path: Path | None) -> Iterator[Finding]:
    if path is None:
        return
    try:
        PolicyFile(path).read()
    except MeteorError as error:
        yield Finding(
            "problem", "policy", str(error),
            "name the file that holds it, or leave policy out: then everybody may do everything",
        )  # fmt: skip


def _of_tls(settings: PeerSettings, now: datetime) -> Iterator[Finding]:
    ca, cert, key = settings.tls_ca, settings.tls_cert, settings.tls_key
    if ca is None:
        if cert is not None or key is not None:
            yield Finding(
                "problem", "tls", "cert and key without ca: whom to trust is not said",
                "set ca in [tls] to the ring's ca.pem",
            )  # fmt: skip
        return
    if cert is None or key is None:
        yield Finding(
            "problem", "tls", "a peer needs cert and key beside ca",
            f"`meteor certs --hosts {host_of(settings.reached_at)}` makes them",
        )  # fmt: skip
        return
    try:
        TLS(ca=ca, cert=cert, key=key).server_context()
        facts, issued = read_certificate(cert.read_bytes(), str(cert)), _is_issued(cert, ca)
        ends = read_certificate(ca.read_bytes(), str(ca)).last
    except (MeteorError, OSError) as error:
        yield Finding("problem", "tls", str(error), "make the files anew with `meteor certs`")
        return
    yield from of_expiry(str(cert), facts.last, now)
    yield from of_expiry(str(ca), ends, now)
    host = host_of(settings.reached_at)
    if not issued:
        yield Finding(
            "problem", str(cert), f"not signed by {ca}, but by {facts.issuer!r}",
            "give the peer a certificate of the ring's CA",
        )  # fmt: skip
    if host not in facts.hosts and not any(name.startswith("*.") for name in facts.hosts):
        yield Finding(
            "problem", str(cert), f"names {', '.join(facts.hosts) or 'no host'}, not {host}",
            f"`meteor certs --hosts {host}` makes one; or advertise a name that it has",
        )  # fmt: skip
    if key.stat().st_mode & 0o077:
        yield Finding(
            "warning", str(key), "others on this machine may read the private key",
            f"chmod 600 {key}",
        )  # fmt: skip


def _is_issued(cert: Path, ca: Path) -> bool:
    """Whether the CA signed it, directly or by a certificate that stands in the same file."""
    chain = cert.read_bytes().count(b"BEGIN CERTIFICATE") > 1
    return chain or is_issued_by(cert.read_bytes(), ca.read_bytes(), str(cert))
