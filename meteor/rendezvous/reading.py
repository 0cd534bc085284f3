"""Reading what clients send, so that a bug met there costs one request.

Law of this file: nothing has been changed yet while it is read, so the peer is as whole after a
failure as before.  Elsewhere a bug ends its peer (`chord.runtime`, rule 5): here whoever knew of
one could end peer after peer with the same few bytes.  It is logged as the error that it is, and
the simulator's runs fail on such a line.
"""

from __future__ import annotations

import logging

from chord import Contact, Fault
from meteor.errors import MeteorError

_log = logging.getLogger("meteor.peer")


class Reading:
    """Refuse the request with `Fault("internal", ...)`, and say so in the log, if reading it fails
    in a way that no check foresaw.  A class, as a generator takes three times as long."""

    __slots__ = ("_sender",)

    def __init__(self, sender: Contact) -> None:
        self._sender = sender

    def __enter__(self) -> None:
        """Nothing has been changed yet."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if kind is None or isinstance(error, MeteorError | Fault):
            return
        if isinstance(error, Exception):
            name = kind.__name__
            _log.error(
                "a request of %s met a bug and is refused: %s", self._sender, name, exc_info=error
            )
            raise Fault("internal", name) from error


reading = Reading
