"""How good the links of a ring are: round trip and silence, as each peer measures its own.

Law of this file: a question among peers and the walk that asks it; what is measured is measured by
`chord.link` for its own purposes, nothing is sent in order to measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from chord import CallError, ChordNode, Contact, Runtime
from meteor.wire.link_messages import LinkNote, LinksQuestion, LinksReport
from meteor.wire.messages import Neighbour

ANSWER_S = 2.0
"""Time for one peer to answer."""


def known_contacts(node: ChordNode) -> list[Contact]:
    """The peers that a peer keeps links to: neighbours and fingers, in the order of identifiers."""
    known = {contact.id: contact for contact in node.successors}
    if node.predecessor is not None:
        known[node.predecessor.id] = node.predecessor
    known.update({finger.contact.id: finger.contact for finger in node.fingers})
    known.pop(node.contact.id, None)
    return [known[id] for id in sorted(known)]


def own_links(runtime: Runtime, node: ChordNode) -> LinksReport:
    """What this peer has measured."""
    notes = []
    for contact in known_contacts(node):
        link = runtime.link(contact)
        if not link.srtt_s:
            continue
        heard_s = runtime.now() - link.last_heard_s
        notes.append(
            LinkNote(
                contact, link.srtt_s, link.rttvar_s, link.frames, link.silences,
                heard_s if isfinite(heard_s) else -1.0,
            )
        )  # fmt: skip
    return LinksReport(tuple(notes))


async def ask_all(
    runtime: Runtime, own: LinksReport, peers: Sequence[Neighbour], limit: int
) -> dict[str, Any]:
    """The links of all peers that answer, as JSON."""
    asked = [peer.contact for peer in peers[:limit] if peer.answers]
    others = [contact for contact in asked if contact.id != runtime.contact.id]
    tasks = [runtime.spawn(_ask(runtime, contact)) for contact in others]
    links = _objects(runtime.contact, own.links)
    silent = []
    for contact, task in zip(others, tasks, strict=True):
        report = await task
        if report is None:
            silent.append(f"{contact.id:x}")
        else:
            links += _objects(contact, report.links)
    return {"links": links, "silent": silent}


async def _ask(runtime: Runtime, contact: Contact) -> LinksReport | None:
    try:
        report = await runtime.call(contact, LinksQuestion(), ANSWER_S)
    except CallError:
        return None
    return report if isinstance(report, LinksReport) else None


def _objects(contact: Contact, notes: Iterable[LinkNote]) -> list[dict[str, Any]]:
    return [
        {
            "from": f"{contact.id:x}",
            "to": f"{note.contact.id:x}",
            "round_trip_ms": round(note.round_trip_s * 1000, 3),
            "deviation_ms": round(note.deviation_s * 1000, 3),
            "frames": note.frames,
            "silences": note.silences,
            "heard_s": None if note.heard_s < 0 else round(note.heard_s, 1),
        }
        for note in notes
    ]
