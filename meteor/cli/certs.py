"""`meteor certs`: a CA and certificates, for a trial or a small ring.

Law of this file: keys are written for their owner alone, and nothing is written over.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from meteor.cli import exit_codes
from meteor.cli.options import echo_json, json_option
from meteor.security.certificates import (
    DAYS_MAX,
    KeyPair,
    make_authority,
    make_certificate,
    read_certificate,
)

CA_NAME: Final = "ca"
"""The files of the CA: no host may be called so."""


@click.command(
    "certs", epilog="Example: meteor certs --hosts '10.0.0.5,10.0.0.6+db1' --client ann --out certs"
)
@click.option(
    "--hosts",
    metavar="A,B,...",
    default="",
    help="The hosts that peers run on, as others dial them: a certificate each. More names of one "
    "host are joined by +, as in 10.0.0.6+db1.",
)
@click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="NAME",
    help="A certificate for a client of this name, which makes no peer; repeat it.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("certs"),
    show_default=True,
    metavar="DIR",
    help="Where the files go; a CA that is there signs again.",
)
@click.option(
    "--days",
    type=click.IntRange(1, DAYS_MAX),
    default=365,
    show_default=True,
    help="How long the certificates are valid; the CA is for ten years.",
)
@click.option("--renew", is_flag=True, help="Write over certificates that are there; never the CA.")
@json_option
def command(
    hosts: str, clients: tuple[str, ...], out: Path, days: int, renew: bool, as_json: bool
) -> int:
    """Make a CA, and certificates for the hosts of a ring.

    DIR/ca.pem goes to everybody, HOST.pem and HOST-key.pem to that host, ca-key.pem nowhere: keep
    it, off line if you can; who has it can join.  Run it again with other hosts to add them.
    """
    wanted = _wanted(hosts, clients)
    if not wanted:
        raise click.UsageError("name the hosts that peers run on: --hosts 10.0.0.5,10.0.0.6")
    now = datetime.now(UTC)
    out.mkdir(parents=True, exist_ok=True)
    if not renew:
        _check_free(out, list(wanted))
    authority = _authority(out, now)
    for name, names in wanted.items():
        try:
            pair = make_certificate(authority, names, now=now, days=days, name=name)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
        _write(out, name, pair)
        _report(out, name, pair, as_json)
    return exit_codes.DONE


def _wanted(hosts: str, clients: tuple[str, ...]) -> dict[str, list[str]]:
    """The file name of each certificate -> the hosts in it; raises `click.UsageError`."""
    found: dict[str, list[str]] = {}
    for entry in filter(None, (part.strip() for part in hosts.split(","))):
        names = [name.strip().strip("[]") for name in entry.split("+")]
        _put(found, names[0].replace(":", "_"), names)
    for client in clients:
        _put(found, client, [])
    return found


def _put(found: dict[str, list[str]], name: str, names: list[str]) -> None:
    if name in found or name == CA_NAME:
        raise click.UsageError(f"{name!r} is there twice, or is the CA's own name")
    if not name or name.startswith((".", "-")) or "/" in name or not name.isprintable():
        raise click.UsageError(f"{name!r} makes no name of a file")
    found[name] = names


def _check_free(out: Path, names: list[str]) -> None:
    there = [out / f"{name}.pem" for name in names if (out / f"{name}.pem").exists()]
    if there:
        raise click.UsageError(f"{there[0]} is there already; --renew replaces it")


def _authority(out: Path, now: datetime) -> KeyPair:
    """The CA of the directory, made where there is none; raises `CertificateError`."""
    certificate, key = out / f"{CA_NAME}.pem", out / f"{CA_NAME}-key.pem"
    if certificate.exists() and key.exists():
        return KeyPair(certificate.read_bytes(), key.read_bytes())
    if certificate.exists():
        raise click.UsageError(f"{certificate} has no {key.name} beside it: only that can sign")
    made = make_authority("meteor trial CA", now=now)
    _write(out, CA_NAME, made)
    return made


def _write(out: Path, name: str, pair: KeyPair) -> None:
    (out / f"{name}.pem").write_bytes(pair.certificate)
    path = out / f"{name}-key.pem"
    path.unlink(missing_ok=True)  # its mode is that of its making
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pair.key)


def _report(out: Path, name: str, pair: KeyPair, as_json: bool) -> None:
    facts = read_certificate(pair.certificate)
    form: dict[str, Any] = {
        "ca": str(out / f"{CA_NAME}.pem"),
        "cert": str(out / f"{name}.pem"),
        "key": str(out / f"{name}-key.pem"),
        "hosts": list(facts.hosts),
        "valid_until": facts.last.isoformat(),
    }
    if as_json:
        echo_json(form)
    else:
        what = ", ".join(facts.hosts) or f"client {facts.name}"
        click.echo(f"{form['cert']}  {what}, until {facts.last:%Y-%m-%d}")
