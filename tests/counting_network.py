"""A simulated network that counts bytes: every frame as the codec writes it."""

from __future__ import annotations

from chord import FrameKind
from meteor.wire.codec import wire_codec
from sim.kernel import Kernel
from sim.link import SimLinkEnd
from sim.network import Network

LINK_AGE_S = 86_400.0
"""How old the links are said to be by requests: older ones take no byte more for weeks."""


class CountingNetwork(Network):
    """Messages travel as bytes, and what they take is known by type.

    Acknowledgements of forwarded frames are counted as one frame each, which is the most that
    they can be: real links join them."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, codec=wire_codec())
        self.reset()

    def reset(self) -> None:
        """Count from now on."""
        self.sent_bytes = self.longest = 0
        self.by_type: dict[str, int] = {}

    def carry(
        self, end: SimLinkEnd, kind: FrameKind, number: int, duration_s: float, message: object
    ) -> None:
        """Count one frame and let it travel."""
        self._count(kind, number, duration_s, message)
        if kind == FrameKind.FORWARD:
            self._count(FrameKind.ACKNOWLEDGE, number, 0.003, None)
        super().carry(end, kind, number, duration_s, message)

    def _count(self, kind: FrameKind, number: int, duration_s: float, message: object) -> None:
        size = len(wire_codec().encode_frame(kind, number, duration_s, message, LINK_AGE_S))
        name = kind.name.lower() if message is None else type(message).__name__
        self.by_type[name] = self.by_type.get(name, 0) + size
        self.sent_bytes += size
        self.longest = max(self.longest, size)
