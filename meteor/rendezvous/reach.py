"""Reach: a delegate's post is refused where its place, or a copy of it, has what it may not touch.

Law of this file: one conversation, before anything is written.  A peer keeps one version of a
record, and a delegation with a selector is for what lies within it: what lies elsewhere under the
name of a post, and not within, would make way for that at whoever keeps both.  Who is to keep the
post are asked; what others have is told apart where the two meet (`keeping/out_of_reach.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from chord import Contact, Handler
from meteor.admission import KEPT_KINDS
from meteor.copies.copying import Copying
from meteor.keeping.holdings import Intervals
from meteor.keeping.out_of_reach import is_out_of_reach
from meteor.keeping.shelf import Shelf
from meteor.rendezvous.amendments import living
from meteor.rendezvous.ownership import DELEGATION
from meteor.rendezvous.task import Task
from meteor.wire.copy_messages import Reached, Reaches
from meteor.wire.operations import Summary


class Reach:
    """What one peer, and its copies, have that delegates may not touch."""

    def __init__(self, shelf: Shelf, copying: Copying) -> None:
        self._shelf, self._copying = shelf, copying

    @property
    def handlers(self) -> Mapping[type, Handler]:
        """Message type to handler."""
        return {Reaches: self._on_reaches}

    async def refusal(self, task: Task, part: Intervals) -> Summary | None:
        """Why something is not to be kept in a part of this peer's; None where it may be."""
        operation = task.operation
        if not operation.limit or operation.verb not in KEPT_KINDS:
            return None
        question = Reaches(*task.key, operation.limit)
        told = [self._reached(question), *await self._copying.ask_copies(part, question)]
        for one in told:
            if isinstance(one, Reached) and one.beyond:
                return Summary(0, refused=DELEGATION, moved_to=one.beyond)
        return None

    def _on_reaches(self, _: Contact, message: object, __: float) -> Reached:
        assert isinstance(message, Reaches)
        return self._reached(message)

    def _reached(self, question: Reaches) -> Reached:
        known = living(self._shelf, (question.owner, question.stem))
        if known is None or not is_out_of_reach(question.limit, known.carried):
            return Reached()
        return Reached(known.carried.id)
