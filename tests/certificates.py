"""A CA and certificates of a trial, made once a run: keys cost a millisecond each."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from meteor import TLS
from meteor.security.certificates import KeyPair, make_authority, make_certificate

NOW = datetime.now(UTC)


@cache
def authority(name: str = "ours") -> KeyPair:
    return make_authority(name, now=NOW)


@cache
def directory() -> Path:
    """Where the files are; gone when the tests are."""
    made = Path(tempfile.mkdtemp(prefix="meteor-certs-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def tls(
    *hosts: str,
    ca: str = "ours",
    trusts: str = "ours",
    client: str = "",
    client_certificates: bool = False,
    expired: bool = False,
) -> TLS:
    """The TLS of a peer at these hosts, signed by the CA `ca`, that trusts the CA `trusts`; of a
    client of that name without hosts, or of one without a certificate."""
    trusted = directory() / f"{trusts}.pem"
    trusted.write_bytes(authority(trusts).certificate)
    if not hosts and not client:
        return TLS(ca=trusted)
    now = NOW - timedelta(days=30) if expired else NOW
    pair = make_certificate(
        authority(ca), hosts, now=now, days=1 if expired else 30, name=client or hosts[0]
    )
    stem = f"{ca}-{client or '+'.join(hosts)}-{expired}".replace(":", "_")
    files = directory() / f"{stem}.pem", directory() / f"{stem}-key.pem"
    for file, content in zip(files, (pair.certificate, pair.key), strict=True):
        file.write_bytes(content)
    return TLS(ca=trusted, cert=files[0], key=files[1], client_certificates=client_certificates)
