"""What befalls the peer of a client just as the client changes something.

Law of this file: whom and when is drawn from one stream.  A peer that is struck crashes, is held,
or does not hear its client for a while; or the link between the two breaks, and the client goes on
to another peer while the first one carries out what it was asked, with what it needs for that, or
without.
"""

from __future__ import annotations

import random
from typing import Final

from chord import Contact
from meteor import Client
from sim.churn import Churn, ChurnPlan
from sim.overlay import Overlay
from sim.simulated_peer import SimPeer

KINDS: Final = ("crashes", "breaks", "partings", "cuts", "pauses")
"""What may happen."""
PAUSE_S: Final = 1.0
"""How long a client reaches its peer at least between two cuts."""
PARTED: Final = 3
PARTED_S_MAX: Final = 1.4
"""From how many others a peer is parted that its client leaves, and for how long at most: less than
what makes them give each other up."""


class Strikes:
    """What befalls the peers of the clients of one run."""

    def __init__(
        self, overlay: Overlay, churn: Churn, plan: ChurnPlan, stream: random.Random
    ) -> None:
        self._overlay, self._churn, self._plan, self._stream = overlay, churn, plan, stream
        self._stopped = False
        self._cut_until_s: dict[Contact, float] = {}
        self.counts: dict[str, int] = {}
        """How often each was drawn."""

    def start(self) -> None:
        """Begin to cut off clients, if any are to be."""
        if self._plan.cut_offs:
            self._overlay.kernel.spawn(self._cut_off_now_and_then())

    def changes(self, client: Client) -> None:
        """A client is about to change something."""
        if self._stopped or not self._plan.strikes or self._stream.random() >= self._plan.strikes:
            return
        self._overlay.kernel.spawn(self._strike(client))

    def stop(self) -> None:
        """Strike nobody any more."""
        self._stopped = True

    async def _cut_off_now_and_then(self) -> None:
        while True:
            await self._overlay.kernel.sleep(self._stream.expovariate(self._plan.cut_offs))
            if self._stopped:
                return
            client = self._stream.choice(list(self._overlay.clients.values()))
            peer = self._peer_of(client)
            if peer is not None:
                self._count("cut-offs")
                self._cut_off(client, peer)

    async def _strike(self, client: Client) -> None:
        kernel, draw = self._overlay.kernel, self._stream.uniform
        kind = self._stream.choice(KINDS)
        await kernel.sleep(draw(0, self._plan.strike_within_s))
        peer = self._peer_of(client)
        if peer is None or self._stopped:
            return
        self._count(f"strikes: {kind}")
        if kind == "crashes":
            self._churn.crash(peer)
        elif kind == "pauses":
            await self._churn.pause(peer)
        elif kind == "breaks":
            self._break(client, peer)
        elif kind == "partings":
            self._part(peer)
            self._break(client, peer)
        else:
            self._cut_off(client, peer)

    def _part(self, peer: SimPeer) -> None:
        """What a peer was asked takes it long: some of those that it needs do not hear it."""
        others = [one for one in self._overlay.living if one is not peer]
        for other in self._stream.sample(others, min(PARTED, len(others))):
            for_s = self._stream.uniform(0, PARTED_S_MAX)
            self._overlay.faults.clog(peer.contact, other.contact, for_s)

    def _cut_off(self, client: Client, peer: SimPeer) -> None:
        (contact,) = [one for one, known in self._overlay.clients.items() if known is client]
        for_s = self._stream.uniform(0, self._plan.strike_cut_s_max)
        now_s = self._overlay.kernel.now()
        if now_s < self._cut_until_s.get(contact, 0.0) + PAUSE_S:
            return  # one cut after the other would be a long one
        self._cut_until_s[contact] = now_s + for_s
        self._overlay.faults.clog(contact, peer.contact, for_s)

    def _peer_of(self, client: Client) -> SimPeer | None:
        if not client.connected:
            return None
        address = client.peer_address
        return next((one for one in self._overlay.living if one.address == address), None)

    def _break(self, client: Client, peer: SimPeer) -> None:
        """The connection of a client is reset: both sides see that it is gone, each by itself."""
        contacts = {one for one, known in self._overlay.clients.items() if known is client}
        for end in self._overlay.network.ends():
            if end.owner.contact in contacts and end.contact.address == peer.address:
                self._overlay.network.hang_up(end)
                end.owner.lose(end, "the connection was reset")

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
