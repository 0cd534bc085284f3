"""Serving the dashboard: a fixed list of files, read once, under a policy that keeps others out.

Law of this file: no path of a request ever names a file; the page may load its own files, ask its
own peer, and nothing more.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from aiohttp import web

from meteor.rest.answers import Refusal, conditional
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.negotiation import HTML
from meteor.rest.parameters import Parameter

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
"""Content-Security-Policy: no inline script or style, nobody else's, no frames, and no text that
becomes markup: the page builds its elements one by one."""

TYPES: Final = {
    "html": HTML,
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
PAGE: Final = "index.html"


class Pages:
    """The page at `/` and its files under `/dashboard/`."""

    def resources(self) -> list[Resource]:
        """What to serve."""
        page = Operation("GET", self._get_page, "The dashboard", forms=(HTML,))
        file = Operation("GET", self._get_file, "A file of the dashboard", forms=(*TYPES.values(),))
        name = Parameter("name", "text", "Its name.", required=True)
        return [Resource("/", (page,)), Resource("/dashboard/{name}", (file,), (name,))]

    async def _get_page(self, call: Call) -> web.Response:
        return _answer(call, PAGE)

    async def _get_file(self, call: Call) -> web.Response:
        return _answer(call, call.request.match_info["name"])


def _answer(call: Call, name: str) -> web.Response:
    """A file, if it is one of ours; raises `Refusal` (404)."""
    content = _files().get(name)
    if content is None:
        raise Refusal(404, "NotFound", f"the dashboard has no file {name[:60]!r}")
    kind = TYPES[name.rpartition(".")[2]]
    answer = web.Response(body=content, content_type=kind, charset="utf-8")
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["X-Frame-Options"] = "DENY"
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return conditional(call.request, answer)


@cache
def _files() -> dict[str, bytes]:
    """Contents by name; read once for all peers of a process."""
    return {
        entry.name: entry.read_bytes()
        for entry in files("meteor.dashboard").iterdir()
        if entry.name.rpartition(".")[2] in TYPES
    }
