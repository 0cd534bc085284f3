"""Sentences on REST that stand nowhere else."""

from __future__ import annotations

import aiohttp
import pytest

import meteor
from squid import KeywordSpace
from tests.meteor.building import SPACE
from tests.meteor.lost_arcs import lose_arc
from tests.meteor.rest.http_client import Http

pytestmark = pytest.mark.sockets

ROUTES = {
    "/messages": {"post"},
    "/profiles": {"get", "post", "delete"},
    "/messages/{id}": {"delete"},
    "/events": {"get"},
    "/ring": {"get"},
    "/space": {"get"},
    "/metrics": {"get"},
    "/healthz": {"get"},
    "/readyz": {"get"},
    "/openapi.json": {"get"},
}


async def test_the_routes_are_those_of_the_specification_and_more() -> None:
    async with meteor.Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        http = Http(session, [peer])
        described = (await http.ask("GET", "/openapi.json"))[2]["paths"]
        for path, methods in ROUTES.items():
            assert methods <= described[path].keys(), path
        status, headers, page = await http.ask("GET", "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>" in page


async def test_the_space_that_is_served_is_the_space() -> None:
    async with meteor.Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        _, headers, raw = await Http(session, [peer]).ask("GET", "/space")
    assert headers["Content-Type"].startswith("application/toml")
    assert KeywordSpace.from_toml(raw.decode()) == SPACE


async def test_a_lost_arc_is_named_in_header_and_body() -> None:
    """Of three peers with one copy of everything one dies; what it had is missing, never empty."""
    async with (
        meteor.LocalOverlay(peers=3, space=SPACE, copies=1, transport="websocket") as overlay,
        aiohttp.ClientSession() as session,
    ):
        await overlay.peers[0].store("type=lamp temperature=20", "lit")
        await lose_arc(overlay, overlay.peers[2])
        http = Http(session, [overlay.peers[0]])
        asked = {"select": "temperature=*", "everywhere": "true", "timeout": "2"}
        status, headers, form = await http.ask("GET", "/profiles", **asked)
        assert (status, headers["Meteor-Complete"], form["complete"]) == (200, "false", False)
        assert form["missing"]
        assert all(int(first) <= int(last) for first, last in form["missing"])
        accept = {"Accept": "application/xml"}
        status, headers, raw = await http.ask("GET", "/profiles", headers=accept, **asked)
        assert (status, headers["Meteor-Complete"]) == (200, "false")
        assert b'complete="false"' in raw
        assert b"<missing first=" in raw
