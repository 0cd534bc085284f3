"""From place to place: letting a record go where it was, wherever it went from there.

Law of this file: conversations without a client.  One order leaves word of where the record is now
at each place in turn; each may be repeated.  What a client is not told to be done is done all the
same for a while: what takes a refused one back, and what ends a replace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from chord import Runtime, replace
from meteor.errors import MeteorError, ProfileError
from meteor.rendezvous.asking import BURIED_WITHIN_S
from meteor.rendezvous.moves import runs_of, with_missing
from meteor.wire import codec
from meteor.wire.collector import summaries_of
from meteor.wire.operations import Carried, Operation
from meteor.wire.record_id import split_id
from meteor.wire.went import last_in
from squid import HilbertCurve, Outcome, Router

PLACES_MAX: Final = 256
"""So many places are asked for a record in turn: each is a `replace` unknown to the caller."""
TRYING_MAX: Final = 1024
"""So many are tried again at once: of more, those that a cut left behind stay as their clients were
told."""
AGAIN_S: Final = 1.0
"""The first pause before what could not be asked is asked again; it doubles each time."""

Attempt = Callable[[float], Awaitable[bool]]
"""Tries until the given time; whether nothing is left to do."""


class PlaceToPlace:
    """One peer's orders to let records go."""

    def __init__(self, runtime: Runtime, router: Router, curve: HilbertCurve) -> None:
        self._runtime, self._router, self._curve = runtime, router, curve
        self._trying = 0
        self._open: dict[str, list[Attempt]] = {}
        """What is tried again, by the stem of the record."""

    async def follow(self, leave: Operation, deadline: float) -> tuple[list[Outcome], Operation]:
        """Let a record leave the place where it is: what came of it at each place that it went to
        from the first one, and what was asked at the last."""
        outcomes = list[Outcome]()
        while True:
            left_s = max(deadline - self._runtime.now(), 0.0)
            if outcomes and (not left_s or len(outcomes) == PLACES_MAX):
                outcomes.append(self.unmet(outcomes.pop(), leave.id))
                return outcomes, leave
            outcomes.append(await self.order(leave, left_s))
            went = last_in(summaries_of(outcomes[-1]))
            if went is None or went.version <= leave.came_with or went.id == leave.moved_to:
                return outcomes, leave
            leave = replace(leave, id=went.id, came_with=went.version)

    async def order(self, operation: Operation, timeout_s: float = BURIED_WITHIN_S) -> Outcome:
        """Carry one out at the place of its id."""
        _, box = split_id(operation.id, self._curve)
        return await self._router.disseminate(box, codec.encode(operation), timeout_s=timeout_s)

    def unmet(self, outcome: Outcome, full_id: str) -> Outcome:
        """A record may be where this id says, and nobody has asked there."""
        _, box = split_id(full_id, self._curve)
        return with_missing(outcome, runs_of([full_id], box, self._curve))

    async def bury(self, word: Carried, version: int, *, whatever: bool = True) -> None:
        """What was deleted where it was lives no more where it went, nor where it went from there:
        word is left that it is back, as two tombstones of one record would be two states of it.
        `whatever` version it has there, or unless that is later."""
        leave = Operation(
            "cancel", word.moved_to, version, word.owner, 0, moved_to=word.id,
            came_with=word.version,
        )  # fmt: skip
        deadline, pause_s = self._runtime.now() + BURIED_WITHIN_S, 0.0
        with suppress(ProfileError):  # other peers have named where it went
            while self._runtime.now() < deadline:
                outcomes, leave = await self.follow(leave, deadline)
                last = summaries_of(outcomes[-1])
                newer = [one for one in last if one.refused == "older"]
                if newer and whatever:
                    # Its author's clock may be ahead of the one here: a delete wins all the same.
                    leave = replace(leave, version=max(one.version for one in newer) + 1)
                    continue
                # Whatever is there the second time, it is the word that this has left.
                is_there = not pause_s and outcomes[-1].complete and any(one.known for one in last)
                if newer or last_in(last) is not None or is_there:
                    return
                # Nobody there knows of it: whoever had it on another side may be merged there yet.
                pause_s = 2 * pause_s or AGAIN_S
                await self._runtime.sleep(pause_s)

    async def in_the_end(self, stem: str, attempt: Attempt) -> None:
        """Try what its client was told to be incomplete again until it is done, or refused, for
        longer than most cuts."""
        if self._trying >= TRYING_MAX:
            return
        self._trying += 1
        deadline, pause_s = self._runtime.now() + BURIED_WITHIN_S, AGAIN_S
        self._open.setdefault(stem, []).append(attempt)
        try:
            with suppress(MeteorError):
                while self._runtime.now() + pause_s < deadline:
                    await self._runtime.sleep(pause_s)
                    pause_s *= 2
                    if await attempt(deadline):
                        return
        finally:
            self._trying -= 1
            self._open[stem].remove(attempt)
            if not self._open[stem]:
                del self._open[stem]

    async def brought_forward(self, stem: str, deadline: float) -> None:
        """Try what is open of a record now, before something else is done to it: where it was is
        what its client knows of, and where it went to nobody else may know."""
        for attempt in tuple(self._open.get(stem, ())):
            with suppress(MeteorError):
                await attempt(deadline)
