"""A rendezvous peer inside a web application: it lives as long as the application does.

Any ASGI server runs it, as `METEOR_JOIN=HOST:PORT uvicorn asgi_peer:application` does.  The peer
starts in the lifespan, on the server's own event loop, and hands over what it holds at the end.
`GET /hot` lists what is hot, anywhere in the ring.
"""

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import meteor

SPACE = meteor.KeywordSpace(
    "building",
    [
        meteor.Word("type"),
        meteor.Number("temperature", -40, 125),
        meteor.Number("humidity", 0, 100),
    ],
)

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def new_peer() -> meteor.Peer:
    """The peer of this process; alone it founds a ring, else it joins the one it is told of."""
    return meteor.Peer(space=SPACE, join=os.environ.get("METEOR_JOIN", "").split())


async def lifespan(state: dict[str, Any], receive: Receive, send: Send) -> None:
    """Start the peer before the first request, and stop it behind the last."""
    await receive()
    try:
        state["peer"] = await new_peer().start()
    except meteor.MeteorError as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        return
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await state["peer"].leave()
    await send({"type": "lifespan.shutdown.complete"})


async def hot(peer: meteor.Peer) -> tuple[int, object]:
    """The status and body of `GET /hot`: the peer has every verb of a client."""
    try:
        matches = await peer.retrieve("temperature>=80")
    except meteor.Incomplete as error:
        return 503, {"missing": error.missing, "found": [str(one.profile) for one in error.matches]}
    return 200, {"found": [str(match.profile) for match in matches]}


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI application."""
    if scope["type"] == "lifespan":
        await lifespan(scope["state"], receive, send)
        return
    if scope["path"] == "/hot":
        status, body = await hot(scope["state"]["peer"])
    else:
        status, body = 404, {"error": "try /hot"}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
