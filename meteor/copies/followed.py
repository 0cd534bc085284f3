"""What an operator can follow in the log: who takes over from whom, who keeps copies from now on.

Law of this file: it looks on; nothing is decided by it.  One line for each thing that happens
between this peer and another one, and none for the same within `QUIET_S`: a peer that falls has
many intervals, and one that is cut off again and again shall not fill a disk.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from chord import Contact, Runtime
from meteor.keeping.chronicle import keep_last
from meteor.wire.view import View

QUIET_S: Final = 30.0
"""How long the same is not said again of the same peer."""
SAID_MAX: Final = 256
"""How much of what was said is remembered."""

_log = logging.getLogger("meteor.copies")

_EVICTED: Final = "goes on without the copies at {}, which is silent or refuses"
_DISMISSED: Final = "lets go of the copies at {}: others are nearer on the ring, or it left"
_RECRUITED: Final = "has copies at {} now"
_TOOK_OVER: Final = "takes over what {} answered for, from its copies"
_LOST: Final = "answers for a part of the ring whose past nobody knows: see `meteor ring`"


class Followed:
    """What one peer says of its copies."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._said: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._silent: OrderedDict[int, float] = OrderedDict()

    def silent(self, ids: Iterable[int]) -> None:
        """These did not answer, or refused: if a view goes on without one of them, that is why."""
        now = self._runtime.now()
        for one in ids:
            keep_last(self._silent, one, now, SAID_MAX)

    def holders(self, before: View | None, view: View) -> None:
        """A view goes on, with these copies instead of those."""
        if before is None:
            return
        for copy in before.copies:
            if not view.has_copy(copy.id):
                silent_s = self._silent.get(copy.id, float("-inf"))
                is_silent = self._runtime.now() - silent_s < QUIET_S
                self._say(_EVICTED if is_silent else _DISMISSED, copy.address)
        for copy in view.copies:
            if copy not in before.copies:
                self._say(_RECRUITED, copy.address)

    def took_over(self, passed_over: Iterable[Contact]) -> None:
        """What these answered for is this peer's now."""
        for one in passed_over:
            if one.id != self._runtime.contact.id:
                self._say(_TOOK_OVER, one.address)

    def lost(self) -> None:
        """An interval was taken whose past nobody knows."""
        self._say(_LOST)

    def _say(self, what: str, address: str = "") -> None:
        if not _log.isEnabledFor(logging.INFO):
            return
        now = self._runtime.now()
        if now - self._said.get((what, address), float("-inf")) < QUIET_S:
            return
        keep_last(self._said, (what, address), now, SAID_MAX)
        _log.info("%s %s", self._runtime.contact.address, what.format(address))
