"""Signed requests by HTTP."""

from __future__ import annotations

import base64
import time
from typing import Any

import aiohttp

from meteor import Peer
from meteor.rest.signed import request_statement
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE

PROFILE = "type%3Dlight%20temperature%3D20"


def headers(
    method: str, path: str, body: bytes = b"", who: Any = ALICE, issued_ms: int = 0, *,
    content_type: str = "", digest: bytes = SPACE.digest,
) -> dict[str, str]:  # fmt: skip
    """What says who signed a request to a ring of this space, and its media type."""
    issued_ms = issued_ms or int(time.time() * 1000)
    statement = request_statement(
        digest, method, path, content_type, issued_ms, issued_ms * 1000, body
    )
    said = {"Content-Type": content_type} if content_type else {}
    return said | {
        "Meteor-Key": who.key,
        "Meteor-Signature": base64.b64encode(who.sign(statement)).decode(),
        "Meteor-Issued": str(issued_ms),
    }


class Http:
    """Requests to one peer, signed or not."""

    def __init__(self, peer: Peer, session: aiohttp.ClientSession) -> None:
        self.peer, self._session = peer, session

    async def ask(
        self, method: str, path: str, body: bytes = b"", who: Any = None, **changed: str
    ) -> tuple[int, Any]:
        signed = headers(method, path, body, who) if who is not None else {}
        signed |= {name.replace("_", "-"): value for name, value in changed.items()}
        return await self.send(method, path, body, signed)

    def stream(self, path: str, signed: dict[str, str]) -> Any:
        """An answer that goes on, to be read while it comes."""
        from yarl import URL

        return self._session.get(
            URL(f"http://{self.peer.address}{path}", encoded=True), headers=signed
        )

    async def send(
        self, method: str, path: str, body: bytes, signed: dict[str, str]
    ) -> tuple[int, Any]:
        from yarl import URL

        url = URL(f"http://{self.peer.address}{path}", encoded=True)
        async with self._session.request(
            method, url, data=body, headers={"Accept": "application/json"} | signed,
            skip_auto_headers=("Content-Type",),
        ) as answer:  # fmt: skip
            return answer.status, await answer.json(content_type=None)
