"""Having owners vouched for anew, while posts go straight to them.

Law of this file: a conversation beside the posts, which wait for nothing here.  An owner that the
own peer vouches for no more costs one post the way round (`meteor.client.shortcuts`); with many
owners that was every third one.  So the own peer is asked before, of all owners together that
posts go to just then: one question, and a sign of life from each.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from chord import CallError, Contact, Runtime
from meteor.client.shortcuts import Shortcuts
from meteor.wire.messages import Vouch, Vouched

GATHER_S: Final = 0.02
"""How long owners are gathered for one question."""
AT_ONCE: Final = 64
"""Owners in one question: what a peer takes."""
ANSWERED_WITHIN_S: Final = 1.0


class Renewing:
    """The questions of one client to its own peer."""

    def __init__(
        self, runtime: Runtime, shortcuts: Shortcuts, own_peer: Callable[[], Contact | None]
    ) -> None:
        """`own_peer`: whom to ask now; nobody where it cannot vouch."""
        self._runtime, self._shortcuts, self._own_peer = runtime, shortcuts, own_peer
        self._due: dict[Contact, int] = {}
        """Owners that are to be vouched for anew, or just asked about, and a point of each."""
        self._is_asking = False

    def went(self, owner: Contact, point: int) -> None:
        """A post about this point goes straight to its owner."""
        if owner not in self._due and self._shortcuts.fades(owner):
            self._due[owner] = point
            if not self._is_asking:
                self._is_asking = True
                self._runtime.spawn(self._ask())

    async def _ask(self) -> None:
        try:
            while self._due:
                await self._runtime.sleep(GATHER_S)
                some = dict(islice(self._due.items(), AT_ONCE))
                await self._ask_about(tuple(some.values()))
                for owner in some:
                    del self._due[owner]
        finally:  # whatever ended it: what is due is asked about by the next post
            self._is_asking = False
            self._due.clear()

    async def _ask_about(self, points: tuple[int, ...]) -> None:
        own_peer, asked_s = self._own_peer(), self._runtime.now()
        if own_peer is None:
            return
        try:
            reply = await self._runtime.call(own_peer, Vouch(points), ANSWERED_WITHIN_S)
        except CallError:  # the posts find out, and go elsewhere
            return
        for known in reply.owners if isinstance(reply, Vouched) else ():
            self._shortcuts.learn(known)
            self._shortcuts.vouch(known.owner, own_peer, asked_s, reply.for_s)
