"""REST put together: resources become routes, and what every route shares goes round them.

Law of this file: whatever a request is, it ends in a document with its status; errors of ours are
problems, bugs are logged and say nothing outside.  The door of peer links, `/peer`, is passed by.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import aiohttp
from aiohttp import web

from meteor.rest.answers import Refusal, problem_answer
from meteor.rest.body import check_announced
from meteor.rest.call import Operation, Resource, TakeTurn, make_call, no_queue
from meteor.rest.config import RestConfig
from meteor.rest.identity import Caller, read_caller
from meteor.rest.negotiation import JSON, XML, NotAcceptable
from meteor.rest.problems import Problem, problem_of
from meteor.rest.signed import HEADERS as SIGNED_HEADERS

LOG = logging.getLogger("meteor.rest")

PEER_PATH: Final = "/peer"
ALLOWED_HEADERS: Final = ", ".join(
    ("Accept", "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", *SIGNED_HEADERS)
)
EXPOSED_HEADERS: Final = "Meteor-Complete, ETag, Link, Allow, Retry-After"
PREFLIGHT_AGE_S: Final = 600

AiohttpHandler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def install(
    application: web.Application,
    resources: Sequence[Resource],
    config: RestConfig,
    own_hosts: Callable[[], Sequence[str]],
    take_turn: TakeTurn = no_queue,
) -> None:
    """Add the resources to an application that has not started."""
    door = _Door(config, own_hosts, take_turn)
    application.middlewares.append(door.answer)
    application.on_response_prepare.append(door.prepare)
    for resource in resources:
        place = application.router.add_resource(resource.path)
        for operation in resource.operations:
            handler = door.handler_of(operation)
            place.add_route(operation.method, handler, expect_handler=door.expect)
            if operation.method == "GET":
                place.add_route("HEAD", handler)
        place.add_route("OPTIONS", door.options_of(resource))


class _Door:
    """What every request passes on its way in and out."""

    def __init__(
        self, config: RestConfig, own_hosts: Callable[[], Sequence[str]], take_turn: TakeTurn
    ) -> None:
        self._config, self._own_hosts, self._take_turn = config, own_hosts, take_turn

    def handler_of(self, operation: Operation) -> AiohttpHandler:
        """The handler of an operation, for aiohttp."""

        async def handle(request: web.Request) -> web.StreamResponse:
            caller = self._caller(request)
            call = make_call(request, operation, caller, self._config, self._take_turn)
            try:
                response = await (
                    call.in_turn(operation) if operation.in_turn else operation.handler(call)
                )
            except web.HTTPException:
                raise
            except Exception as error:
                response = self._problem(request, error, *call.sent)
            if len(operation.forms) > 1 and not response.prepared:
                response.headers.setdefault("Vary", "Accept")
            return response

        return handle

    def options_of(self, resource: Resource) -> AiohttpHandler:
        """The handler of OPTIONS, for aiohttp."""
        allow = ", ".join(resource.methods)
        taken = sorted({form for one in resource.operations for form in one.takes})

        async def options(request: web.Request) -> web.StreamResponse:
            headers = {"Allow": allow}
            if taken:
                headers["Accept-Post"] = ", ".join(taken)
            if request.headers.get("Origin") in self._config.cors_origins:
                headers["Access-Control-Allow-Methods"] = allow
                headers["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
                headers["Access-Control-Max-Age"] = str(PREFLIGHT_AGE_S)
            return web.Response(status=204, headers=headers)

        return options

    async def expect(self, request: web.Request) -> web.StreamResponse | None:
        """`Expect: 100-continue`: what will be refused is not sent at all."""
        try:
            check_announced(request, self._config)
        except Exception as error:
            return self._problem(request, error)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        return None

    @web.middleware
    async def answer(self, request: web.Request, handler: AiohttpHandler) -> web.StreamResponse:
        """The middleware: every error becomes a problem."""
        if request.path == PEER_PATH:
            return await handler(request)
        try:
            response = await handler(request)
        except Exception as error:
            if isinstance(error, web.HTTPException) and error.status < 400:
                raise
            response = self._problem(request, error)
        return response

    def _problem(self, request: web.Request, error: Exception, sent: str = "") -> web.Response:
        """What an error is to the caller, who `sent` a document in this form."""
        headers: dict[str, str] = {}
        if isinstance(error, Refusal):
            problem, headers = error.problem, error.headers
        elif isinstance(error, NotAcceptable):
            problem = Problem(406, "urn:meteor:error:NotAcceptable", str(error))
        elif isinstance(error, web.HTTPMethodNotAllowed):
            allowed = sorted(error.allowed_methods)
            headers = {"Allow": ", ".join(allowed)}
            detail = f"{request.method[:20]} is not for this path; it takes {', '.join(allowed)}"
            problem = Problem(405, "urn:meteor:error:MethodNotAllowed", detail)
        elif isinstance(error, web.HTTPException):
            kind = "NotFound" if error.status == 404 else type(error).__name__
            detail = "nothing is at this path; /openapi.json names what is"
            problem = Problem(
                error.status, f"urn:meteor:error:{kind}",
                detail if error.status == 404 else error.reason,
            )  # fmt: skip
        elif isinstance(error, aiohttp.ClientPayloadError | web.RequestPayloadError):
            problem = Problem(400, "urn:meteor:error:BrokenBody", "the body ended early")
        else:
            known = problem_of(error)
            if known is None:
                LOG.error("%s %s failed", request.method, request.path, exc_info=error)
            internal = "an error of this peer; its log says more"
            problem = known or Problem(500, "urn:meteor:error:internal", internal)
        sent = sent or (JSON if request.content_type == JSON else XML)
        prefers_xml = request.path == "/messages" and sent == XML
        return problem_answer(request, problem, prefers_xml=prefers_xml, headers=headers)

    async def prepare(self, request: web.Request, response: web.StreamResponse) -> None:
        """What every answer says, also one that streams, just before it leaves."""
        if request.path != PEER_PATH:
            response.headers.update(self._common_headers(request))

    def _common_headers(self, request: web.Request) -> dict[str, str]:
        """Safety, and CORS for the configured origins alone."""
        headers = {
            "Server": "meteor",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        origins = self._config.cors_origins
        if origins:
            headers["Vary"] = "Accept, Origin"
        if request.headers.get("Origin", "") in origins:
            headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
            headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
        else:
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return headers

    def _caller(self, request: web.Request) -> Caller:
        return read_caller(request.headers, request.remote, self._own_hosts(), self._config)
