"""Serving the dashboard: a fixed list of files, read once, under a policy that keeps others out.

Law of this file: no path of a request ever names a file; the page may load its own files, ask its
own peer, and nothing more.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from aiohttp import web

from meteor.rest.answers import conditional
from meteor.rest.call import Call, Operation, Resource
from meteor.rest.negotiation import HTML

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
PREFIX: Final = "/dashboard/"


class Pages:
    """The page at `/` and its files under `/dashboard/`."""

    def __init__(self) -> None:
        self._files = {
            entry.name: entry.read_bytes()
            for entry in files("meteor.dashboard").iterdir()
            if entry.name.rpartition(".")[2] in TYPES
        }

    def resources(self) -> list[Resource]:
        """What to serve."""
        resources = [_resource("/", "index.html", self._files["index.html"])]
        resources += [
            _resource(PREFIX + name, name, content) for name, content in sorted(self._files.items())
        ]
        return resources


def _resource(path: str, name: str, content: bytes) -> Resource:
    kind = TYPES[name.rpartition(".")[2]]

    async def get(call: Call) -> web.Response:
        answer = web.Response(body=content, content_type=kind, charset="utf-8")
        answer.headers["Content-Security-Policy"] = POLICY
        answer.headers["X-Frame-Options"] = "DENY"
        answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return conditional(call.request, answer)

    operation = Operation("GET", get, f"The dashboard: {name}", forms=(kind,))
    return Resource(path, (operation,))
