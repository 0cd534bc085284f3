"""`meteor doctor`: what is wrong with a configuration or a ring, and what to do about it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from meteor.cli import exit_codes
from meteor.cli.config import rows_of
from meteor.cli.configuration import Configuration
from meteor.cli.options import (
    DEFAULT_PEER,
    Link,
    counted,
    echo_json,
    json_option,
    link_options,
    timeout_option,
)

if TYPE_CHECKING:
    from meteor.operation.findings import Finding

_COLOURS: Final = {"problem": "red", "warning": "yellow"}
_WIDTH: Final = 78
_OWN: Final = (
    "listen", "advertise", "insecure", "join", "found_if_alone", "space", "data_dir", "tls.ca",
    "tls.cert", "tls.key", "policy",
)  # fmt: skip


@click.command(
    "doctor", epilog="Example: meteor doctor --peer '10.0.0.5:7400' --peer '10.0.0.6:7400'"
)
@timeout_option
@link_options
@json_option
@click.pass_context
def command(context: click.Context, timeout_s: float, link: Link, as_json: bool) -> int:
    """Look at the settings of a peer here, where there are any, and at the ring.

    Says what is wrong, with its figure, and what to do.  Exit 0 when nothing is (warnings do not
    count), 2 when the settings are, 3 when the ring is, 5 when nobody of it answers.
    """
    report = _Report(as_json)
    answering: list[str] = []
    ring_is_ill = link_is_wrong = False
    try:
        answering, ring_is_ill = asyncio.run(_examine(link, timeout_s, report))
    except click.UsageError as error:  # the settings are looked at all the same
        link_is_wrong = report.add([_unasked(error)], "")
    settings_are_wrong = _examine_settings(context, answering, report) or link_is_wrong
    report.end()
    if settings_are_wrong:
        return exit_codes.BAD_INPUT
    if not answering:
        return exit_codes.UNREACHABLE
    return exit_codes.INCOMPLETE if ring_is_ill else exit_codes.DONE


def _unasked(error: click.UsageError) -> Finding:
    """Why nobody was asked."""
    from meteor.operation.findings import Finding  # noqa: PLC0415 - heavy

    return Finding(
        "problem", "client", f"the ring was not asked: {error.message}",
        "`meteor config client` shows where each value comes from",
    )  # fmt: skip


class _Report:
    """What was found, for people or for programs."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._counts = {"problem": 0, "warning": 0}

    def begin(self, title: str) -> None:
        """What is looked at now."""
        if not self._as_json:
            click.echo(click.style(title, bold=True))

    def add(self, found: list[Finding], well: str) -> bool:
        """Print findings, or that all is well; whether there is a problem among them."""
        for one in found:
            self._counts[one.severity] += 1
            self._print(one)
        if not found and not self._as_json:
            click.echo(f"  {click.style('ok', fg='green')}  {well}")
        return any(one.severity == "problem" for one in found)

    def _print(self, one: Finding) -> None:
        if self._as_json:
            echo_json(
                {
                    "severity": one.severity,
                    "subject": one.subject,
                    "what": one.what,
                    "cure": one.cure,
                }
            )
            return
        mark = click.style(one.severity, fg=_COLOURS[one.severity], bold=True)
        click.echo(f"  {mark}  {one.subject}")
        for text, first in ((one.what, "      "), (one.cure, "    → ")):
            click.echo(click.wrap_text(text, _WIDTH, first, "      "))

    def end(self) -> None:
        """The sum; programs get it too, which are told nothing else where all is well."""
        if self._as_json:
            echo_json({f"{what}s": count for what, count in self._counts.items()})
        else:
            click.echo(", ".join(_many(count, what) for what, count in self._counts.items()))


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _check_files(link: Link) -> None:
    """Raises `click.UsageError` for files that make no link: no peer could answer, and none is to
    blame."""
    tls = link.tls()
    try:
        if tls is not None:
            tls.client_context()
    except ValueError as error:  # `CertificateError`, whose module a help text does not wait for
        raise click.UsageError(str(error)) from error


async def _examine(link: Link, timeout_s: float, report: _Report) -> tuple[list[str], bool]:
    """Look at the ring; who of it answers, and whether there is a problem."""
    from meteor.operation.findings import of_asking, of_peer, of_picture  # noqa: PLC0415 - heavy
    from meteor.operation.rounds import ask_all, visit_all  # noqa: PLC0415 - as above

    def connect(address: str) -> Any:
        return replace(link, peers=(address,)).connect(timeout=timeout_s)

    report.begin(f"ring at {', '.join(link.peers)}")
    _check_files(link)
    asked, picture = await ask_all(link.peers, connect, timeout_s)
    found = list(of_asking(asked))
    if picture is None:
        return [], report.add(found, "")
    found.extend(of_picture(picture))
    bad = report.add(found, f"{counted(len(picture.peers), 'peer')}, closed, nothing lost")
    answering = [peer.contact.address for peer in picture.peers if peer.answers]
    report.begin(f"{counted(len(answering), 'peer')} one by one")
    now = datetime.now(UTC)
    visited = await visit_all(answering, link.tls(), timeout_s)
    own = [finding for facts in visited for finding in of_peer(facts, now)]
    well = "ready, clocks together, copies complete, loops in time"
    return answering, report.add(own, well) or bad


def _examine_settings(context: click.Context, answering: list[str], report: _Report) -> bool:
    """Look at the settings of the peer of this machine, if somebody has made any; whether there is
    a problem."""
    from meteor.operation.findings import Finding  # noqa: PLC0415 - heavy
    from meteor.operation.settings_check import PeerSettings, of_settings  # noqa: PLC0415 - heavy

    unfit: dict[str, Finding] = {}

    def refused(name: str, error: click.BadParameter) -> None:
        place = error.param.get_error_hint(error.ctx) if error.param else name
        unfit[name] = Finding("problem", name, error.message, f"correct {place}")

    rows = {row["setting"]: row for row in rows_of(context, "peer", refused=refused)}
    own = [rows[name] for name in _OWN if not name.startswith("tls.")]
    if all(row["from"] == "default" for row in own):
        return False
    configuration = context.find_object(Configuration)
    path = None if configuration is None else configuration.path
    report.begin(f"settings of a peer here ({path or 'environment'})")
    given = {name.replace(".", "_"): rows[name]["value"] for name in _OWN if name not in unfit}
    for name in ("space", "data_dir", "tls_ca", "tls_cert", "tls_key", "policy"):
        given[name] = Path(given[name]) if given.get(name) else None
    given["join"] = tuple(given.get("join", ()))
    settings = PeerSettings(**{"listen": DEFAULT_PEER, **given})
    serving = settings.reached_at in answering
    found = [*unfit.values()]
    found += [
        one
        for one in of_settings(settings, datetime.now(UTC), serving=serving)
        if one.subject not in unfit  # it would be said of the default that stands in for it
    ]
    return report.add(found, "nothing wrong")
