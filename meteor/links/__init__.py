"""Where messages meet sockets, an event loop and the clock: the asyncio adapter of the runtime.

Law of this package: I/O at the edge; no protocol.  The other adapter is `sim`.
"""

__all__: list[str] = []
