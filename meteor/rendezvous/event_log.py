"""A peer's events as JSON lines: posts, routes, matches, load.

Law of this file: it turns what it is told into lines and keeps nothing; where lines go, and how
many may wait, is decided by who takes them (`meteor.links.asyncio_event_files`, a simulated
overlay). One event is one flat JSON object.  All have `event`, `time` (Unix seconds of this
machine) and `peer`, the writer's identifier in hexadecimal; every event but `load` has `operation`,
which ties together what many peers write of one post.  `meteor-sim logs` reads them.

* `post`: an operation begins here: `action`, and `axes`, one character a dimension of its box: `=`
  a single cell, `<` a range, `*` the whole axis.
* `route`: a share was handed to the peer `to` and taken; `hops` hand-ons lie behind it.
* `match`: a part was done here; `matches` profiles met; `hops` as above, 0 at the post's own peer.
* `reply`: the operation has ended here: `complete`, `peers`, `hops`, `matches`.
* `load`: what lives here: `data`, `interests`, `watches`; `arc` is the share of the ring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from chord import Contact, Runtime
from meteor.errors import MeteorError
from meteor.wire import codec
from meteor.wire.collector import summary_in
from meteor.wire.operations import Operation, State
from squid import Box, HandOn, HilbertCurve, Outcome, Work

if TYPE_CHECKING:
    from meteor.rendezvous.rendezvous_peer import RendezvousPeer

LOAD_S: Final = 5.0
"""How often a peer writes down its load."""

Put = Callable[[bytes], None]
"""Takes one line, its end included."""

_encode = msgspec.json.Encoder().encode


class EventLog:
    """What one peer writes down (`squid.RouteObserver`)."""

    def __init__(
        self, peer_id: int, curve: HilbertCurve, wall_clock: Callable[[], float], put: Put
    ) -> None:
        self._peer, self._curve = f"{peer_id:x}", curve
        self._wall_clock, self._put = wall_clock, put

    def began(self, operation: bytes, box: Box, body: bytes) -> None:
        """Write `post`."""
        asked = _decoded(body)
        action = asked.verb if isinstance(asked, Operation) else type(asked).__name__.lower()
        self._write("post", operation, action=action, axes=axes_of(box, self._curve))

    def handed_on(self, share: HandOn, contact: Contact) -> None:
        """Write `route`."""
        self._write("route", share.operation, to=f"{contact.id:x}", hops=share.hops)

    def worked(self, share: HandOn, work: Work) -> None:
        """Write `match`."""
        self._write("match", share.operation, matches=_matches(work.body), hops=share.hops)

    def ended(self, operation: bytes, outcome: Outcome) -> None:
        """Write `reply`."""
        matches = sum(_matches(body) for _, body in outcome.summaries)
        self._write(
            "reply", operation, complete=outcome.complete, peers=outcome.peers, hops=outcome.hops,
            matches=matches,
        )  # fmt: skip

    def load(self, state: State, arc: float) -> None:
        """Write `load`; `arc` is the part of the ring that this peer owns, 0 to 1."""
        self._write(
            "load", b"", data=state.data, interests=state.interests, watches=state.watches, arc=arc
        )

    def _write(self, event: str, operation: bytes, **fields: Any) -> None:
        form = {"event": event, "time": round(self._wall_clock(), 6), "peer": self._peer}
        if operation:
            form["operation"] = operation.hex()
        self._put(_encode(form | fields) + b"\n")


def log_events(
    peer: RendezvousPeer,
    runtime: Runtime,
    wall_clock: Callable[[], float],
    put: Put,
    *,
    id_bits: int,
) -> None:
    """Write down from now on what happens at a peer that runs on `runtime`."""
    log = EventLog(runtime.contact.id, peer.space.curve, wall_clock, put)
    peer.router.observe(log)
    runtime.spawn(_log_load(log, peer, runtime, id_bits))


async def _log_load(log: EventLog, peer: RendezvousPeer, runtime: Runtime, id_bits: int) -> None:
    while True:
        arc = peer.node.arc
        if arc is not None:
            log.load(await peer.census.in_turns(), arc.length(id_bits) / (1 << id_bits))
        await runtime.sleep(LOAD_S)


def axes_of(box: Box, curve: HilbertCurve) -> str:
    """One character a dimension: `=` a single cell, `*` the whole axis, `<` anything between."""
    ends = zip(box.low, box.high, strict=True)
    return "".join(
        "=" if low == high else "*" if (low, high) == (0, curve.side - 1) else "<"
        for low, high in ends
    )


def _matches(body: bytes) -> int:
    summary = summary_in(body)
    return 0 if summary is None else summary.matches


def _decoded(body: bytes) -> object:
    """What a peer said, or None: a log takes hostile bytes as they come."""
    try:
        return codec.decode(body) if body else None
    except MeteorError:
        return None
