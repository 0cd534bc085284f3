"""Posting the rows of a CSV file: several at once, no faster than asked, rejects put aside.

Law of this file: every row has one end: posted, or rejected with its reason.  What is wrong with
the connection is no row's fault and ends the whole; the summary says from which row to go on.
"""

from __future__ import annotations

import asyncio
import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import click

import meteor
from meteor.admission import place_packed
from meteor.cli import exit_codes
from meteor.cli.csv_rows import ColumnUnknown, Plan, Ready, RowRejected
from meteor.cli.options import Link, echo_json
from meteor.rest.json_form import receipt_object
from meteor.wire.document import pack_profile
from meteor.wire.record_id import check_stem, make_id

IN_FLIGHT: Final = 32
"""Rows under way at once: enough to keep a ring busy, few enough to lose little at an end."""
REJECTED: Final = (
    meteor.SelectorError, meteor.ProfileError, meteor.TypeMismatch, meteor.LimitExceeded,
    meteor.Refused,
)  # fmt: skip
"""What is wrong with a row; everything else is wrong with the overlay or the way to it."""


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """What the command line says of a file."""

    file: TextIO
    size: int
    """In bytes; 0 where nobody knows."""
    mapping: dict[str, str]
    constant: str
    stem: str | None
    data: str
    whole_row: bool
    has_header: bool
    delimiter: str
    skip: int
    rate: float | None
    """Rows a second at most."""
    rejects: Path | None
    ttl: float | None
    timeout_s: float
    content_type: str | None
    visible_to: tuple[str, ...] = ()


class _Rejects:
    """Rows that were not posted, with why, in a file of the same columns and one more."""

    def __init__(self, path: Path | None, header: Sequence[str], delimiter: str) -> None:
        self.count = 0
        self._file = None if path is None else path.open("w", encoding="utf-8", newline="")
        self._writer = None if self._file is None else csv.writer(self._file, delimiter=delimiter)
        self._write([*header, "error"])

    def add(self, number: int, row: Sequence[str], reason: object) -> None:
        """Put a row aside; without a file the reason goes to the standard error."""
        self.count += 1
        if self._writer is None:
            click.echo(f"meteor: row {number}: {reason}", err=True)
        self._write([*row, str(reason)])

    def _write(self, row: Sequence[str]) -> None:
        if self._writer is not None:
            self._writer.writerow(row)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class _Rows:
    """The rows with their numbers, and how far the file is read."""

    def __init__(self, options: CsvOptions) -> None:
        self.read_bytes = 0
        self._rows = csv.reader(self._lines(options.file), delimiter=options.delimiter)
        first = next(self._rows, None)
        if first is None:
            raise click.UsageError("the file is empty")
        self.header = first if options.has_header else [f"col{n + 1}" for n in range(len(first))]
        self._first = None if options.has_header else first

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        number = 0
        while True:
            row = self._first or next(self._rows, None)
            self._first = None
            if row is None:
                return
            number += 1
            if row:
                yield number, row

    def _lines(self, file: TextIO) -> Iterator[str]:
        for line in file:
            self.read_bytes += len(line.encode())
            yield line


@dataclass(slots=True)
class _Named:
    """Rows of one name, which are posted one after the other."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    id: str = ""
    """Of the last that was posted; empty before the first."""
    passed_by: Ready | None = None
    """Before that: the last one that another run has posted, perhaps."""


class _Posting:
    """One file on its way."""

    def __init__(self, client: meteor.Client, options: CsvOptions, as_json: bool) -> None:
        self._client, self._options, self._as_json = client, options, as_json
        self._rows = _Rows(options)
        self._plan = Plan.of(
            self._rows.header, options.mapping, constant=options.constant, stem=options.stem,
            data=options.data, whole_row=options.whole_row, space=client.space,
        )  # fmt: skip
        self._rejects = _Rejects(options.rejects, self._rows.header, options.delimiter)
        self._named: dict[str, _Named] = {}
        self._done = 0
        self._open: dict[int, None] = {}
        self._last = options.skip
        self._clock = asyncio.get_running_loop().time

    async def run(self) -> int:
        """Post every row; the exit code."""
        began_s = self._clock()
        places = asyncio.Semaphore(IN_FLIGHT)
        hidden = not sys.stderr.isatty() or not self._options.size
        failure: Exception | None = None
        bar = click.progressbar(
            length=max(self._options.size, 1), label="posting", file=sys.stderr, hidden=hidden
        )
        try:
            with bar:
                async with asyncio.TaskGroup() as group:
                    for number, row in self._rows:
                        if number <= self._options.skip:
                            self._pass_by(number, row)
                            continue
                        await self._keep_pace(began_s, number)
                        await places.acquire()
                        self._open[number] = None
                        task = group.create_task(self._post_one(number, row))
                        task.add_done_callback(lambda _: places.release())
                        bar.update(self._rows.read_bytes - bar.pos)
        except* meteor.MeteorError as failed:
            failure = failed.exceptions[0]  # raised here, Python 3.11.2 would put it into a group
        finally:
            self._rejects.close()
        if failure is not None:
            self._say_where()
            raise failure
        return self._summary(self._clock() - began_s)

    def _pass_by(self, number: int, row: list[str]) -> None:
        """Skip a row; where an earlier run has posted it, the next one of its name replaces it."""
        if self._plan.stem is None or self._plan.numbers_names:
            return
        with suppress(RowRejected):
            ready = self._plan.post(row, number)
            self._named.setdefault(ready.stem or "", _Named()).passed_by = ready

    async def _keep_pace(self, began_s: float, number: int) -> None:
        rate = self._options.rate
        if rate is not None:
            before = number - self._options.skip - 1
            await asyncio.sleep(wait_s(before, rate, self._clock() - began_s))

    async def _post_one(self, number: int, row: list[str]) -> None:
        try:
            receipt = await self._store(self._plan.post(row, number))
        except (RowRejected, *REJECTED) as error:
            self._rejects.add(number, row, error)
        else:
            self._done += 1
            if self._as_json:
                echo_json({"row": number, **receipt_object(receipt, "store")})
        self._last = max(self._last, number)
        del self._open[number]

    async def _store(self, ready: Ready) -> meteor.Receipt:
        """Store a row, or let it take the place of the one before it of its name, wherever that
        lives.  Where each has a name of its own anyway, none is remembered."""
        if ready.stem is None or self._plan.numbers_names:
            return await self._client.store(
                ready.profile, ready.data, id=ready.stem, **self._manner()
            )
        named = self._named.setdefault(ready.stem, _Named())
        async with named.turn:
            before = named.id or id_of(named.passed_by, self._client.space)
            receipt = await (
                self._client.replace(before, ready.profile, ready.data, **self._manner())
                if before
                else self._client.store(ready.profile, ready.data, id=ready.stem, **self._manner())
            )
            named.id, named.passed_by = receipt.id, None
        return receipt

    def _manner(self) -> dict[str, Any]:
        options = self._options
        return {
            "content_type": options.content_type, "ttl": options.ttl,
            "timeout": options.timeout_s, "visible_to": options.visible_to or None,
        }  # fmt: skip

    def _say_where(self) -> None:
        """From which row a second run has to go on."""
        first_open = min(self._open, default=self._last + 1)
        click.echo(
            f"meteor: {self._done} rows were posted; go on with --skip {first_open - 1}", err=True
        )

    def _summary(self, taken_s: float) -> int:
        rejected = self._rejects.count
        where = f", see {self._options.rejects}" if rejected and self._options.rejects else ""
        click.echo(
            f"{self._done} posted, {rejected} rejected{where}, in {taken_s:.1f} s",
            err=self._as_json,
        )
        return exit_codes.BAD_INPUT if rejected else exit_codes.DONE


def id_of(ready: Ready | None, space: meteor.KeywordSpace) -> str:
    """The full id that a row has where it was posted; empty for one that cannot be."""
    if ready is None or ready.stem is None:
        return ""
    try:
        packed = pack_profile(meteor.Profile.parse(ready.profile, space))
        box = place_packed(packed, "store", space, everywhere=False)
        return make_id(check_stem(ready.stem), box, space.curve)
    except REJECTED:
        return ""


def wait_s(before: int, rate: float, taken_s: float) -> float:
    """How long a row waits behind so many others, `taken_s` after the first: who falls behind
    catches up, and no second has more than `rate` of them that were due in it."""
    return max(0.0, before / rate - taken_s)


async def post_rows(link: Link, options: CsvOptions, *, as_json: bool) -> int:
    """Post the rows of a file; the exit code.  Raises `click.UsageError` for columns that are not
    there."""
    async with link.connect(timeout=options.timeout_s) as client:
        try:
            posting = _Posting(client, options, as_json)
        except ColumnUnknown as error:
            raise click.UsageError(str(error)) from error
        return await posting.run()


def size_of(file: Any) -> int:
    """How long a file is, in bytes; 0 for a pipe."""
    name = getattr(file, "name", None)
    try:
        return Path(name).stat().st_size if isinstance(name, str) and file.seekable() else 0
    except OSError:
        return 0
