"""Reading what clients send, so that a bug met there costs one request.

Law of this file: nothing has been changed yet while it is read, so the peer is as whole after a
failure as before.  Elsewhere a bug ends its peer (`chord.runtime`, rule 5): here whoever knew of
one could end peer after peer with the same few bytes.  It is logged as the error that it is, and
the simulator's runs fail on such a line.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from chord import Contact, Fault
from meteor.errors import MeteorError

_log = logging.getLogger("meteor.peer")


@contextmanager
def reading(sender: Contact) -> Iterator[None]:
    """Refuse the request with `Fault("internal", ...)`, and say so in the log, if reading it fails
    in a way that no check foresaw."""
    try:
        yield
    except (MeteorError, Fault):
        raise
    except Exception as error:
        name = type(error).__name__
        _log.error("a request of %s met a bug and is refused: %s", sender, name, exc_info=error)
        raise Fault("internal", name) from error
