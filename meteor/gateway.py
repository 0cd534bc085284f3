"""REST on the peer's own port, for whoever has only HTTP: a sensor with curl, a browser, a script.

Law of this file: it translates, no more: each route parses, calls a verb of the peer's embedded
client, and writes the answer.  Nothing is trusted: bodies are read up to a limit and within a
time, unknown parameters are refused.  An incomplete answer is status 200 with `Meteor-Complete:
false` and the same in the body (SPEC section 7).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from aiohttp import web

from arms import Message, Result, action_named, parse_message, write_result
from meteor.errors import LimitExceeded, Refused, Timeout
from meteor.json_form import intervals_object, match_object, receipt_object
from meteor.poster import PostOptions
from meteor.problems import JSON_TYPE, XML_TYPE, Problem, problem_of
from meteor.values import Receipt
from meteor.verbs import Verbs
from meteor.xml_form import found_message, result_of

if TYPE_CHECKING:
    from meteor.peer import Peer

LOG = logging.getLogger("meteor.gateway")

COMPLETE_HEADER: Final = "Meteor-Complete"
FORM_TYPE: Final = "application/x-www-form-urlencoded"
"""What curl says of a body whose sender said nothing."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """What a request may cost."""

    body_bytes_max: int = 1_100_000
    """A little above the largest payload, so that its own limit is the one that speaks."""
    body_timeout_s: float = 30.0
    timeout_s: float = 10.0
    """Of the overlay, where the request does not say."""
    timeout_s_max: float = 60.0


def add_routes(application: web.Application, peer: Peer) -> None:
    """Serve REST on a peer's port; until it has started, requests are answered with 503."""

    def health() -> dict[str, Any]:
        return {"status": "ok", "address": peer.address, "id": f"{peer.id:x}"}

    def space_toml() -> str:
        return peer.space.to_toml()

    gateway = Gateway(peer, space_toml, health)
    application.add_routes(gateway.routes())


class Gateway:
    """The routes of one peer, over its verbs."""

    def __init__(
        self,
        verbs: Verbs,
        space_toml: Callable[[], str],
        health: Callable[[], Mapping[str, Any]],
        limits: GatewayLimits | None = None,
    ) -> None:
        self._verbs = verbs
        self._space_toml = space_toml
        self._health = health
        self._limits = limits or GatewayLimits()

    def routes(self) -> list[web.RouteDef]:
        """What to add to the peer's application."""
        return [
            web.get("/profiles", self._guarded(self._retrieve)),
            web.post("/profiles", self._guarded(self._store)),
            web.delete("/profiles", self._guarded(self._delete)),
            web.post("/messages", self._guarded(self._message)),
            web.delete("/messages/{id}", self._guarded(self._cancel)),
            web.get("/healthz", self._guarded(self._healthz)),
            web.get("/space", self._guarded(self._space)),
        ]

    # -- routes ------------------------------------------------------------------------------

    async def _retrieve(self, request: web.Request) -> web.Response:
        query = _Query(request, {"select", "everywhere", "timeout"})
        answer = self._verbs.retrieve(
            query.text("select"),
            everywhere=query.flag("everywhere"),
            timeout=self._timeout_s(query),
            allow_partial=True,
        )
        matches = [match_object(match) for match in await answer.all()]
        return _json(
            {
                "action": "retrieve",
                "complete": answer.complete,
                "missing": intervals_object(answer.missing),
                "peers": 0 if answer.receipt is None else answer.receipt.peers,
                "matches": matches,
            },
            complete=answer.complete,
        )

    async def _store(self, request: web.Request) -> web.Response:
        query = _Query(request, {"profile", "ttl", "id", "timeout"})
        kind = "" if request.content_type == FORM_TYPE else request.headers.get("Content-Type", "")
        receipt = await self._verbs.store(
            query.text("profile"),
            await self._body(request),
            content_type=kind or None,
            ttl=query.number("ttl"),
            id=query.optional("id"),
            timeout=self._timeout_s(query),
            allow_partial=True,
        )
        return _receipt(receipt, "store")

    async def _delete(self, request: web.Request) -> web.Response:
        query = _Query(request, {"select", "mode", "dry_run", "everywhere", "timeout"})
        receipt = await self._verbs.delete_data(
            query.text("select"),
            mode=_mode(query.optional("mode")),
            dry_run=query.flag("dry_run"),
            everywhere=query.flag("everywhere"),
            timeout=self._timeout_s(query),
            allow_partial=True,
        )
        return _receipt(receipt, "delete_data")

    async def _message(self, request: web.Request) -> web.Response:
        query = _Query(request, {"everywhere", "timeout"})
        message = parse_message(await self._body(request))
        _check_repliable(message)
        result = await self._post(message, query.flag("everywhere"), self._timeout_s(query))
        return web.Response(
            body=write_result(result),
            content_type="application/xml",
            charset="utf-8",
            headers={COMPLETE_HEADER: str(result.complete).lower()},
        )

    async def _post(self, message: Message, everywhere: bool, timeout_s: float) -> Result:
        """Carry out an AR message and say what came of it."""
        options: PostOptions = {
            "content_type": message.content_type or None,
            "context": dict(message.context),
            "data": message.data,
            "everywhere": everywhere,
            "id": message.id or None,
            "timeout": timeout_s,
            "allow_partial": True,
        }
        if message.ttl_s is not None:
            options["ttl"] = message.ttl_s
        if message.action == "retrieve":
            answer = self._verbs.post(message.profile, "retrieve", **options)
            found = tuple(found_message(match) for match in await answer.all())
            receipt = answer.receipt or Receipt("", complete=False)
            return result_of(receipt, message, found)
        posted = self._verbs.post(message.profile, message.action, **options)
        receipt = await cast("Awaitable[Receipt]", posted)
        return result_of(receipt, message)

    async def _cancel(self, request: web.Request) -> web.Response:
        query = _Query(request, {"timeout"})
        receipt = await self._verbs.cancel(request.match_info["id"], timeout=self._timeout_s(query))
        if not receipt.matches:
            return _problem(request, Problem(404, "urn:meteor:error:NotFound", "no such id here"))
        return _receipt(receipt, "cancel")

    async def _healthz(self, request: web.Request) -> web.Response:
        _Query(request, set())
        return _json(dict(self._health()))

    async def _space(self, request: web.Request) -> web.Response:
        _Query(request, set())
        return web.Response(text=self._space_toml(), content_type="application/toml")

    # -- what every route shares -------------------------------------------------------------

    def _guarded(self, handler: Handler) -> Handler:
        """Errors of ours become problem documents; bugs are logged and say nothing outside."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            try:
                return await handler(request)
            except Exception as error:
                if isinstance(error, web.HTTPException):
                    raise
                problem = problem_of(error)
                if problem is None:
                    LOG.exception("%s %s failed", request.method, request.path)
                    problem = Problem(500, "urn:meteor:error:internal", "an error of this peer")
                return _problem(request, problem)

        return guarded

    async def _body(self, request: web.Request) -> bytes:
        """The body, read up to the limit and within the time; raises `LimitExceeded`,
        `Timeout`."""
        limit = self._limits.body_bytes_max
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_timeout_s):
                async for chunk in request.content.iter_any():
                    body += chunk
                    if len(body) > limit:
                        raise LimitExceeded("body bytes", f"more than {limit}", limit)
        except TimeoutError:
            raise Timeout(
                f"the body did not arrive within {self._limits.body_timeout_s:g} s"
            ) from None
        return bytes(body)

    def _timeout_s(self, query: _Query) -> float:
        seconds = query.number("timeout")
        if seconds is None:
            return self._limits.timeout_s
        if not 0 < seconds <= self._limits.timeout_s_max:
            raise LimitExceeded("timeout seconds", seconds, self._limits.timeout_s_max)
        return seconds


class _Query:
    """The parameters of a request; raises `ValueError` for unknown, repeated or unfit ones."""

    def __init__(self, request: web.Request, known: set[str]) -> None:
        self._values = dict(request.query)
        unknown = sorted(self._values.keys() - known)
        if unknown:
            names = ", ".join(sorted(known)) or "none"
            raise ValueError(f"unknown parameter {unknown[0]!r}; this route takes {names}")
        if len(request.query) != len(self._values):
            raise ValueError("a parameter is given twice")

    def text(self, name: str) -> str:
        """A parameter that must be there."""
        if name not in self._values:
            raise ValueError(f"the parameter {name!r} is missing: ?{name}=type%3Dtemperature")
        return self._values[name]

    def optional(self, name: str) -> str | None:
        """A parameter, or None."""
        return self._values.get(name)

    def number(self, name: str) -> float | None:
        """A number, or None."""
        text = self._values.get(name)
        try:
            return None if text is None else float(text)
        except ValueError:
            raise ValueError(f"{name}={text!r} is not a number") from None

    def flag(self, name: str) -> bool:
        """`true`, `false`, `1`, `0`; absent is false."""
        text = self._values.get(name, "false")
        if text not in ("true", "false", "1", "0"):
            raise ValueError(f"{name}={text!r} is neither true nor false")
        return text in ("true", "1")


def _check_repliable(message: Message) -> None:
    """REST answers once: what goes on telling needs a linked client.

    Raises `Refused`, and `UnknownAction` before that."""
    action = action_named(message.action)
    if message.reply_to:
        raise Refused(
            f"{message.action}({message.reply_to}): this peer contacts no reply address; leave it "
            "out and read the result here",
            "reply_address",
        )
    if action.name.startswith("notify") or (action.name == "retrieve" and message.ttl_s):
        raise Refused(
            f"{message.action} with a lifetime goes on telling its sender, which REST cannot: use "
            "meteor.connect, or `meteor watch`",
            "linked_client",
        )


def _mode(text: str | None) -> Literal["within", "overlap"]:
    if text in (None, "within"):
        return "within"
    if text == "overlap":
        return "overlap"
    raise ValueError(f"mode={text!r} is neither within nor overlap")


def _receipt(receipt: Receipt, action: str) -> web.Response:
    return _json(receipt_object(receipt, action), complete=receipt.complete)


def _json(form: dict[str, Any], *, complete: bool | None = None) -> web.Response:
    headers = {} if complete is None else {COMPLETE_HEADER: str(complete).lower()}
    body = json.dumps(form, ensure_ascii=False).encode()
    return web.Response(body=body, content_type="application/json", headers=headers)


def _problem(request: web.Request, problem: Problem) -> web.Response:
    """The problem in the form that the request's route speaks."""
    as_xml = request.path == "/messages"
    headers = {"Retry-After": "1"} if problem.status == 503 else {}
    return web.Response(
        status=problem.status,
        body=problem.as_xml() if as_xml else problem.as_json(),
        content_type=XML_TYPE if as_xml else JSON_TYPE,
        headers=headers,
    )
