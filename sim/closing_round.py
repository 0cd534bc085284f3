"""The closing round: when everything has healed and the run was judged, every verb works at every
peer, all over the curve.

Law of this file: conversations over the public client, with profiles and interests of their own,
which no history knows.  What does not work is a violation: nothing disturbs the overlay any more.
Only where every copy was down at some time of the run may a receipt be incomplete; and a store
there may wait for more peers, where fewer are left than keep copies: who lost something as it was
started again acknowledges nothing until the others are back (`Witnesses.too_few`).
"""

from __future__ import annotations

from typing import Final

from chord import MeteorError
from meteor import Client, Incomplete, profile
from sim.checkers.notification import TOLD_WITHIN_S
from sim.history import within
from sim.overlay import Overlay
from sim.places import HIGH, LOW, TYPES, index_of
from squid import Intervals

TIMEOUT_S: Final = 5.0
"""How long each verb may take."""
WIDTH: Final = 1.0
"""Of the range of values that each interest is in: narrower than the way to the next one's."""


def violations(overlay: Overlay, wounds: Intervals) -> list[str]:
    """What does not work, at which peer; `wounds` as in `History`."""
    found = []
    living = overlay.living
    waits = wounds if len(living) < overlay.copies else ()
    for number, peer in enumerate(living):
        client = overlay.client(peer=number)
        value = round(LOW + (HIGH - LOW) * (number + 0.5) / len(living), 1)
        try:
            wrong = overlay.run(_every_verb(client, number, value, wounds, waits))
        except MeteorError as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            found.append(f"closing round: by {peer.address}, of the value {value:g}: {wrong}")
    return found


async def _every_verb(
    client: Client, number: int, value: float, wounds: Intervals, waits: Intervals
) -> str:
    """Do everything once; what was wrong, if anything.  Raises what the overlay raises."""
    described = profile({"type": TYPES[number % len(TYPES)], "value": value})
    index = index_of({"type": TYPES[number % len(TYPES)], "value": value})
    partial, stem = within(index, wounds), f"closing{number}"
    interest = await client.notify_data(
        f"value={value}..{value + WIDTH}", id=f"closing-interest{number}",
        timeout=TIMEOUT_S, allow_partial=bool(wounds),
    )  # fmt: skip
    try:
        receipt = await client.store(described, stem, id=stem, timeout=TIMEOUT_S)
    except Incomplete:
        if not within(index, waits):
            raise
        return ""
    while (await interest.recv(timeout=TOLD_WITHIN_S)).id != receipt.id:
        pass  # what lay there before comes first
    renewed = await client.renew(receipt.id, timeout=TIMEOUT_S, allow_partial=partial)
    if renewed.matches != 1:
        return f"renewed {renewed.matches} times"
    if not await _is_found(client, value, receipt.id, index, wounds):
        return "stored, and not found"
    deleted = await client.cancel(receipt.id, timeout=TIMEOUT_S, allow_partial=partial)
    if deleted.matches != 1:
        return f"deleted {deleted.matches} times"
    if await _is_found(client, value, receipt.id, None, wounds):
        return "deleted, and found"
    await interest.close()
    return ""


async def _is_found(
    client: Client, value: float, record_id: str, index: int | None, wounds: Intervals
) -> bool:
    """Whether a record is among the answer, which may lack something elsewhere if there are
    wounds, or, where an `index` is given, is named as missing there."""
    answer = client.retrieve(f"value={value}", timeout=TIMEOUT_S, allow_partial=bool(wounds))
    matches = await answer.all()
    if index is not None and within(index, answer.missing):
        return True
    return record_id in [match.id for match in matches]
