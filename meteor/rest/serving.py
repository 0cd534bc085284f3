"""The routes of one peer, all of them: what `meteor.Peer` puts on its transport's application.

Law of this file: assembly.  Operation adds its own routes (`/metrics`, `/healthz`, `/readyz`) as
resources of the same table, so that they are described, guarded and answered like the others.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from aiohttp import web

from meteor.client.guest import Guest
from meteor.dashboard.pages import Pages
from meteor.rest.answers import conditional, json_bytes
from meteor.rest.application import install
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.events import Events
from meteor.rest.live import Live
from meteor.rest.messages import Messages
from meteor.rest.negotiation import JSON
from meteor.rest.openapi import describe
from meteor.rest.overlay import Facts, Overlay
from meteor.rest.profiles import Profiles
from meteor.rest.replies import Replies
from meteor.rest.schemas import ref

Stop = Callable[[web.Application], Awaitable[None]]


class Served(Facts, Protocol):
    """What all routes together ask a peer."""

    @property
    def guest(self) -> Guest:
        """The verbs of a client, in nobody's name."""

    @property
    def serving(self) -> bool:
        """Whether it runs."""


def add_routes(
    application: web.Application,
    peer: Served,
    config: RestConfig | None = None,
    others: Sequence[Resource] = (),
) -> None:
    """Serve REST and the dashboard on a peer's port; until the peer has started, requests are
    answered with 503.  `others` are further resources, of whoever operates the peer."""
    config = config or RestConfig()
    resources, stops = described_resources(peer, config, others)
    application.on_shutdown.extend(stops)
    install(
        application, [*resources, *Pages().resources()], config, lambda: _own_hosts(peer),
        partial(_turn_of, peer),
    )  # fmt: skip


def described_resources(
    peer: Served, config: RestConfig, others: Sequence[Resource] = ()
) -> tuple[list[Resource], list[Stop]]:
    """What `/openapi.json` describes, itself included, and what is to end when the peer stops."""
    began_s = time.time()
    guest = peer.guest
    events, live = Events(guest, config), Live(peer, config)

    def undelivered() -> None:  # of the core that the peer has then: none before, and as it stops
        if peer.serving:
            peer.core.entry.tally.undelivered()

    replies = Replies(undelivered)
    resources = [
        *Profiles(guest, config).resources(),
        *Messages(guest, config, replies).resources(),
        *events.resources(),
        *Overlay(peer, guest, config, began_s).resources(),
        *live.resources(),
        *others,
    ]
    resources.append(_description(resources, began_s))
    return resources, [events.stop, live.stop, replies.stop]


def _turn_of(
    peer: Served, address: str, size: int, timeout_s: float
) -> AbstractAsyncContextManager[None]:
    """The turn of a caller among the clients of a peer.  Callers are told apart by their address
    alone: a key, as a connection, costs nothing to make."""
    caller = int.from_bytes(sha256(b"http " + address.encode()).digest())
    return peer.core.entry.turn(caller, size, timeout_s)


def _own_hosts(peer: Served) -> tuple[str, ...]:
    """The names under which this peer is known by its own word."""
    return (peer.address.rpartition(":")[0],) if peer.serving else ()


def _description(resources: Sequence[Resource], began_s: float) -> Resource:
    """`/openapi.json`: what stands before it, and itself."""

    @cache  # made when it is first asked for: most peers of a process never are
    def document() -> bytes:
        return json_bytes(describe([*resources, own], _version()))

    async def get(call: Call) -> web.Response:
        answer = web.Response(body=document(), content_type=JSON)
        return conditional(call.request, answer, modified_s=began_s)

    operation = Operation("GET", get, "This description", answers={200: ref("OpenApi")})
    own = Resource("/openapi.json", (operation,))
    return own


def _version() -> str:
    try:
        return version("meteor-rendezvous")
    except PackageNotFoundError:  # run from a tree that is not installed
        return "0"
