"""What a peer says of itself and its overlay: ring, links, space, curve, a selector's cost.

Law of this file: questions only.  A picture of the ring asks every peer, so one is made a second at
most, whoever asks and how often; a page that is open in ten windows costs as one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice
from typing import Any, Final, Protocol

from aiohttp import web

from meteor.admission import place
from meteor.client.draft import typed_profile
from meteor.client.explanation import explain
from meteor.client.verbs import Verbs
from meteor.dashboard.curve_picture import ORDER_MAX, Plane, draw, place_on, plane_of
from meteor.rendezvous.rendezvous_peer import RendezvousPeer
from meteor.rest.answers import conditional, json_answer
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.config import RestConfig
from meteor.rest.json_form import intervals_object
from meteor.rest.negotiation import JSON, TOML
from meteor.rest.parameters import Parameter
from meteor.rest.profiles import EVERYWHERE, SELECT
from meteor.rest.schemas import ref
from meteor.wire.messages import Neighbour, RingPicture
from meteor.wire.record_id import split_id
from squid import Box, KeywordSpace

PICTURE_S: Final = 1.0
"""How old a picture of the ring may be."""
PEERS_MAX: Final = 1024
LINKED_PEERS_MAX: Final = 64
"""Peers that are asked for their links: a table of more is not read by anybody."""
POINTS_MAX: Final = 600
"""Stored data, and matches, shown in a picture of the space."""

EXAMINED_MAX: Final = 10_000
"""Records looked at for them: one that keeps a million others, and hardly any of its own, is not to
hold its loop for a picture."""

Place = dict[str, float]
"""Where something lies in a picture, as fractions of the axes."""


class Facts(Protocol):
    """What these routes ask a peer."""

    @property
    def address(self) -> str:
        """Where others reach it."""

    @property
    def id(self) -> int:
        """Its identifier."""

    @property
    def space(self) -> KeywordSpace:
        """The keyword space."""

    @property
    def core(self) -> RendezvousPeer:
        """Its protocol side."""


class Overlay:
    """The resources about a peer and its ring."""

    def __init__(self, peer: Facts, verbs: Verbs, config: RestConfig, began_s: float) -> None:
        self._peer, self._verbs, self._config, self._began_s = peer, verbs, config, began_s
        self._ring = _Shared(lambda: peer.core.picture(PEERS_MAX))
        self._links = _Shared(lambda: peer.core.links(LINKED_PEERS_MAX))

    def resources(self) -> list[Resource]:
        """What to serve."""
        optional = Parameter(
            "select", "text", "A selector whose box is shown.", form="meteor-selector"
        )
        x = Parameter("x", "text", "The dimension from left to right.", form="meteor-x")
        y = Parameter("y", "text", "The dimension from bottom to top.", form="meteor-y")
        found = Parameter("found", "flag", "Ask for what matches, and say where it lies.")
        order = Parameter("order", "integer", "Halvings of each axis.", low=1, high=ORDER_MAX)

        def get(
            path: str, handler: Any, summary: str, shape: str, *parameters: Parameter,
            forms: tuple[str, ...] = (JSON,),
        ) -> Resource:  # fmt: skip
            operation = Operation(
                "GET", handler, summary, parameters, forms, answers={200: ref(shape)}
            )
            return Resource(path, (operation,))

        return [
            get("/ring", self._get_ring, "The peers in ring order and what each holds", "Ring"),
            get("/links", self._get_links, "Round trip and silence between peers", "Links"),
            get("/space", self._get_space, "The keyword space", "Space", forms=(TOML, JSON)),
            get("/explain", self._explain, "What asking a selector costs", "Explanation", SELECT),
            get(
                "/curve", self._curve, "Two dimensions of the space and the curve through them",
                "Curve", x, y, order, optional, found, EVERYWHERE,
            ),
            get("/access", self._access, "Who is asked, and what the caller may do", "Access"),
        ]  # fmt: skip

    async def _get_ring(self, call: Call) -> web.Response:
        picture = await self._ring.value()
        return conditional(call.request, json_answer(self._ring_object(picture)))

    def _ring_object(self, picture: RingPicture) -> dict[str, Any]:
        bits = self._peer.core.id_bits
        return {
            "closed": picture.closed,
            "id_bits": bits,
            "here": f"{self._peer.id:x}",
            "peers": [peer_object(peer, len(picture.peers), bits) for peer in picture.peers],
        }

    async def _get_links(self, _: Call) -> web.Response:
        return json_answer(await self._links.value(), headers={"Cache-Control": "no-store"})

    async def _get_space(self, call: Call) -> web.Response:
        space = self._peer.space
        if call.form == JSON:
            answer = json_answer(space_object(space))
        else:
            answer = web.Response(text=space.to_toml(), content_type=TOML)
        return conditional(call.request, answer, modified_s=self._began_s)

    async def _explain(self, call: Call) -> web.Response:
        space, core = self._peer.space, self._peer.core
        selector = call.parameters.text("select")
        typed_profile(selector, space)  # what is wrong with it is said before anybody is asked
        picture = await self._ring.value()
        explanation = explain(selector, space, picture, core.id_bits)
        return json_answer(explanation.as_object(space))

    async def _curve(self, call: Call) -> web.Response:
        space, core = self._peer.space, self._peer.core
        parameters = call.parameters
        selector = parameters.optional("select")
        box = None
        if selector is not None:
            box = place(typed_profile(selector, space), "retrieve", space, everywhere=True)
        plane = plane_of(
            space, parameters.optional("x"), parameters.optional("y"),
            parameters.integer("order", 4), box,
        )  # fmt: skip
        picture = await self._ring.value()
        form = draw(space, plane, picture.peers, core.id_bits, box)
        form["points"] = self._points(plane) if may_look_in(call, core) else []
        form["found"] = []
        if selector is not None and parameters.flag("found"):
            everywhere = parameters.flag("everywhere")
            async with call.turn():
                form["found"] = await self._found(selector, everywhere, plane, call.timeout_s)
        return conditional(call.request, json_answer(form))

    async def _found(
        self, selector: str, everywhere: bool, plane: Plane, timeout_s: float
    ) -> list[Place]:
        """Where the first matches lie; their ids say it."""
        space = self._peer.space
        answer = self._verbs.retrieve(
            selector, everywhere=everywhere, timeout=timeout_s, allow_partial=True
        )
        places: list[Place] = []
        async for match in answer:
            places.append(_place(space, plane, split_id(match.id, space.curve)[1]))
            if len(places) >= POINTS_MAX:
                break
        return places

    def _points(self, plane: Plane) -> list[Place]:
        """Where the data lies that this peer answers for."""
        core = self._peer.core
        held = core.holdings.held
        points: list[Place] = []
        for record in islice(core.shelf.store.records(), EXAMINED_MAX):
            if len(points) >= POINTS_MAX:
                break
            region = record.region
            if record.visible_to or record.kind != "data" or not isinstance(region, Box):
                continue
            if core.shelf.lives_in(record, held):
                points.append(_place(core.space, plane, region))
        return points

    async def _access(self, call: Call) -> web.Response:
        form = {
            "access": call.caller.access(call.config),
            "address": self._peer.address,
            "id": f"{self._peer.id:x}",
            "space": self._peer.space.name,
        }
        return json_answer(form, headers={"Cache-Control": "no-store"})


def may_look_in(call: Call, core: RendezvousPeer) -> bool:
    """Whether a caller may see what this peer keeps, past what it may ask the overlay for: where a
    policy says who may ask, only whoever operates the peer."""
    return core.gatekeeper.is_open or call.caller.operates


def _place(space: KeywordSpace, plane: Plane, box: Box) -> Place:
    x, y = place_on(space, plane, box)
    return {"x": round(x, 5), "y": round(y, 5)}


class _Shared:
    """An answer that is made once for all who ask within a second."""

    def __init__(self, make: Callable[[], Awaitable[Any]]) -> None:
        self._make = make
        self._task: asyncio.Future[Any] | None = None
        self._made_s = float("-inf")

    async def value(self) -> Any:
        """The answer; raises what making it raises."""
        loop = asyncio.get_running_loop()
        fresh = self._task is not None and (
            not self._task.done() or loop.time() - self._made_s < PICTURE_S
        )
        if not fresh or self._task is None:
            self._task = asyncio.ensure_future(self._make())
            self._task.add_done_callback(lambda _: self._note(loop.time()))
        return await asyncio.shield(self._task)

    def _note(self, now_s: float) -> None:
        self._made_s = now_s


def peer_object(peer: Neighbour, peers: int, id_bits: int) -> dict[str, Any]:
    """One peer of the ring for JSON."""
    size = 1 << id_bits
    width = size if peers == 1 else (peer.contact.id - peer.first) % size + 1
    return {
        "id": f"{peer.contact.id:x}",
        "address": peer.contact.address,
        "first": f"{peer.first:x}",
        "share": round(width / size, 6),
        "answers": peer.answers,
        "stored": peer.stored,
        "data": peer.data,
        "interests": peer.interests,
        "copies": peer.copies,
        "lost": intervals_object(peer.lost),
        "forgotten": peer.forgotten,
    }


def space_object(space: KeywordSpace) -> dict[str, Any]:
    """The keyword space for JSON, with the digest that signed requests name it by."""
    shown = ("low", "high", "unit", "scale", "values", "alphabet")
    return {
        "name": space.name,
        "digest": space.digest.hex(),
        "bits": space.bits,
        "extra": space.extra,
        "max_attributes": space.max_attributes,
        "dimensions": [
            {"name": dimension.name, "kind": dimension.kind}
            | {
                name: getattr(dimension, name)
                for name in shown
                if getattr(dimension, name, None) is not None
            }
            for dimension in space.dimensions
        ],
    }
