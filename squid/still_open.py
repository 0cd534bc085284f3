"""Whether anybody still waits for an operation: the question to its origin, before what may be done
already is done.

Law of this file: one question.  A share that lay on a link, as its client had the operation done by
another peer, may come when somebody else has its place, who does not know that it was done: a
delete would take what was stored since.  Who is not sure does nothing and says nothing then; where
somebody waits all the same, the origin asks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chord import CallError, Contact, Deferred, Handler, RemoteFault, Runtime
from squid.messages import HandOn, IsOpen, Open
from squid.operation import OriginatedOperation

ANSWER_S: Final = 0.75
"""For one question: about as long as a hand-on may take."""


class StillOpen:
    """What one peer answers of its own operations, and asks about those of others."""

    def __init__(self, runtime: Runtime, operations: Mapping[bytes, OriginatedOperation]) -> None:
        self._runtime, self._operations = runtime, operations
        self.handlers: Mapping[type, Handler] = {IsOpen: self._on_is_open}

    async def is_open(self, share: HandOn) -> bool:
        """Whether somebody waits for a share.  One's own may be late as well: it waited until this
        peer had the part, and another one did it there for its client meanwhile."""
        if share.origin == self._runtime.contact:
            return (await self._open(share.operation)).so
        try:
            answer = await self._runtime.call(share.origin, IsOpen(share.operation), ANSWER_S)
        except RemoteFault:
            return True  # of an earlier version
        except CallError:
            return False  # it hears of nothing that is done here, either
        return not isinstance(answer, Open) or answer.so

    def _on_is_open(self, _: Contact, question: object, __: float) -> Deferred:
        assert isinstance(question, IsOpen)
        return Deferred(self._open(question.operation))

    async def _open(self, operation_id: bytes) -> Open:
        operation = self._operations.get(operation_id)
        if operation is None or operation.settled or operation.is_wanted is None:
            return Open(operation is not None and not operation.settled)
        return Open(await operation.is_wanted())
