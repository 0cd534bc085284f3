"""How much of what was written the other side has taken.

Law of this file: asks the operating system, and decides nothing.  A transport's own buffer says
little of who reads slowly: the system has megabytes of its own below it and tells of every third or
so, and a TLS transport hands on all that it has at once, to a buffer that it does not tell of.
"""

from __future__ import annotations

import asyncio
import socket as sockets
import struct
import sys
from typing import Final

_ACKNOWLEDGED: Final = struct.Struct("=120xQ")
"""Where Linux says how many bytes the other side of a socket has acknowledged ..."""
_IS_TOLD: Final = sys.platform == "linux"
"""... and other systems do not."""


def taken(transport: asyncio.BaseTransport) -> int | None:
    """How many bytes the other side of a transport has taken since it was opened; None where
    nobody tells: no socket of TCP, another system, or an old kernel."""
    if not _IS_TOLD:
        return None
    try:
        socket = transport.get_extra_info("socket")
        told = socket.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, _ACKNOWLEDGED.size)
        (number,) = _ACKNOWLEDGED.unpack(told)
    except (AttributeError, OSError, struct.error):
        return None
    return int(number)
