"""What a route is: a table of operations from which routes, Allow and OpenAPI are made.

Law of this file: one declaration a method.  Parameters are read, the form of the answer is chosen
and the caller's right is checked here, before a handler runs, the same for all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from meteor.errors import Refused
from meteor.rest.answers import Refusal
from meteor.rest.body import read_body
from meteor.rest.config import RestConfig
from meteor.rest.identity import Caller
from meteor.rest.negotiation import JSON, chosen_form
from meteor.rest.parameters import Parameter, Parameters, read_parameters

Schema = dict[str, Any]

TakeTurn = Callable[[str, int, float], AbstractAsyncContextManager[None]]
"""The turn of the caller at this address, with so many bytes, in at most so many seconds."""


def no_queue(_: str, __: int, ___: float) -> AbstractAsyncContextManager[None]:
    """Everybody's turn is now."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Call:
    """One request of which everything is read but the body."""

    request: web.Request
    parameters: Parameters
    caller: Caller
    form: str
    """The media type to answer in."""
    config: RestConfig
    take_turn: TakeTurn = no_queue
    sent: list[str] = field(default_factory=list)
    """The media type of the document that it brought, once that was looked at."""
    _read: list[bytes] = field(default_factory=list)
    """The body, once it was read."""

    async def body(self) -> bytes:
        """The body, read once; raises as `meteor.rest.body.read_body`."""
        if not self._read:
            self._read.append(await read_body(self.request, self.config))
        return self._read[0]

    async def in_turn(self, operation: Operation) -> web.StreamResponse:
        """Carry an operation out when it is this caller's turn, whose body is here by then, also
        one that the route takes none of but a signature speaks of: a slow sender keeps nobody
        waiting.  Raises `Busy`, and as the operation and the body."""
        is_sent = bool(operation.takes) or self.request.can_read_body
        size = len(await self.body()) if is_sent else 0
        async with self.turn(size):
            return await operation.handler(self)

    def answered_as(self, sent: str, forms: tuple[str, ...]) -> Call:
        """The call, answered in the form of what it brought unless it asks for another."""
        self.sent[:] = [sent]
        offers = tuple(sorted(forms, key=lambda form: form != sent))
        return replace(self, form=chosen_form(self.request.headers.get("Accept"), offers))

    def turn(self, size: int = 0) -> AbstractAsyncContextManager[None]:
        """The caller's turn at the peer's door; raises `Busy` when it is entered."""
        return self.take_turn(self.request.remote or "", size, self.timeout_s)

    @property
    def timeout_s(self) -> float:
        """How long the overlay may take."""
        given = self.parameters.number("timeout")
        return self.config.timeout_s if given is None else given


Handler = Callable[[Call], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one resource."""

    method: str
    handler: Handler
    summary: str
    parameters: tuple[Parameter, ...] = ()
    forms: tuple[str, ...] = (JSON,)
    """What it answers in, the usual one first."""
    takes: tuple[str, ...] = ()
    """Media types of the body; `*/*` for any, none for no body."""
    body_schema: Schema | None = None
    answers: dict[int, Schema | None] = field(default_factory=dict)
    """Schema of the JSON form of each success."""
    changes: bool = False
    """Whether it changes anything: then the caller must have the right to."""
    in_turn: bool = False
    """Whether it asks the overlay, so that its caller waits for its turn as a client does."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One path and its methods."""

    path: str
    operations: tuple[Operation, ...]
    path_parameters: tuple[Parameter, ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods that are answered, HEAD and OPTIONS included."""
        named = [operation.method for operation in self.operations]
        return (*named, *(("HEAD",) if "GET" in named else ()), "OPTIONS")


def make_call(
    request: web.Request,
    operation: Operation,
    caller: Caller,
    config: RestConfig,
    take_turn: TakeTurn = no_queue,
) -> Call:
    """Read what is declared; raises `Refused`, `Refusal` (401, 406) and `ParameterError`."""
    if operation.changes:
        check_may_change(caller, config)
    form = chosen_form(request.headers.get("Accept"), operation.forms)
    raw_query = request.raw_path.partition("#")[0].partition("?")[2]
    parameters = read_parameters(raw_query, operation.parameters)
    return Call(request, parameters, caller, form, config, take_turn)


def check_may_change(caller: Caller, config: RestConfig) -> None:
    """Raises `Refusal` (401) where a token is missing, `Refused` where nothing helps."""
    access = caller.access(config)
    if access == "write":
        return
    if access == "write with token":
        what = "is not that of this peer" if caller.credential == "wrong" else "is missing"
        raise Refusal(
            401,
            "Unauthorized",
            f"the token {what}: send it as Authorization: Bearer ...",
            {"rule": "token"},
            {"WWW-Authenticate": 'Bearer realm="meteor"'},
        )
    if not caller.is_trusted_origin:
        raise Refused(
            f"a page of {caller.origin or 'another site'} may not change anything here; name its "
            "origin in cors_origins",
            "origin",
        )
    raise Refused(
        "a page may change things only from the peer's own machine; start the peer with "
        "--token-file and give the token",
        "loopback",
    )
