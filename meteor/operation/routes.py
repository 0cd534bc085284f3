"""What an operator asks of a peer over HTTP: is it alive, is it ready, what does it do.

Law of this file: it translates.  *Alive* is that this answer comes; *ready*, that posts sent here
are served: a member of a ring that holds its arc, and is not leaving.  A load balancer asks the
second, who restarts dead processes the first.
"""

from __future__ import annotations

from typing import Final, Protocol

from aiohttp import web

from meteor.operation.metrics import CONTENT_TYPE, exposition, registry_of
from meteor.operation.snapshot import Snapshot
from meteor.rest.answers import RETRY_AFTER_S, Refusal, json_answer
from meteor.rest.call import Call, Handler, Operation, Resource
from meteor.rest.negotiation import JSON
from meteor.rest.schemas import ref

FRESH: Final = {"Cache-Control": "no-store"}


class Operated(Protocol):
    """What these routes ask a peer; none of it raises."""

    @property
    def unreadiness(self) -> str:
        """Why it does not serve yet or any more; empty when it does."""

    def snapshot(self) -> Snapshot | None:
        """Its counters; None while it does not serve."""

    @property
    def whereabouts(self) -> dict[str, str]:
        """Its address and identifier, as far as it has them."""


def operation_resources(peer: Operated) -> list[Resource]:
    """`/healthz`, `/readyz` and `/metrics`."""
    whole, state = registry_of(peer.snapshot), registry_of(peer.snapshot, whole=False)

    async def healthz(_: Call) -> web.Response:
        return json_answer({"status": "ok", **peer.whereabouts}, headers=FRESH)

    async def readyz(_: Call) -> web.Response:
        reason = peer.unreadiness
        if reason:
            raise Refusal(503, "NotReady", reason, headers={"Retry-After": str(RETRY_AFTER_S)})
        return json_answer({"status": "ok", **peer.whereabouts}, headers=FRESH)

    async def metrics(call: Call) -> web.Response:
        text = exposition(whole if call.caller.operates else state)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE, **FRESH})

    return [
        _get("/healthz", healthz, "Whether this process answers", "Health"),
        _get("/readyz", readyz, "Whether this peer is a member that serves", "Health"),
        _get("/metrics", metrics, "Numbers for Prometheus", "", forms=("text/plain",)),
    ]


def _get(
    path: str, handler: Handler, summary: str, shape: str, forms: tuple[str, ...] = (JSON,)
) -> Resource:
    schema = ref(shape) if shape else None
    return Resource(path, (Operation("GET", handler, summary, forms=forms, answers={200: schema}),))
