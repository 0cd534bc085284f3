"""One use for each signature that opens a stream: who reads a signed request on its way, and sends
it again, gets nothing that goes on.

Law of this file: pure, takes the wall clock's milliseconds.  Remembered for as long as an issue
time is taken, by one peer; what was signed before that memory begins is refused, as nobody knows.
By its issue time, not by when it came: whose clock is ahead signs what is taken for longer.
"""

from __future__ import annotations

from hashlib import sha256
from heapq import heappop, heappush
from typing import Final

from meteor.errors import Refused
from meteor.security.verifying import SIGNATURE, WINDOW_S

REMEMBERED_MS: Final = int(2 * WINDOW_S * 1000)
REMEMBERED_MAX: Final = 32_768


class UsedSignatures:
    """The signatures that one peer has taken for streams."""

    def __init__(self, wall_ms: int, length: int = REMEMBERED_MAX) -> None:
        self._begins_ms, self._length = wall_ms, length
        self._used: set[bytes] = set()
        self._by_issue: list[tuple[int, bytes]] = []  # a heap

    def use(self, signature: bytes, issued_ms: int, wall_ms: int) -> None:
        """Take a good signature; raises as `check`."""
        while self._by_issue:
            oldest_ms, oldest = self._by_issue[0]
            is_over = wall_ms - oldest_ms > REMEMBERED_MS
            if not is_over and len(self._used) < self._length:
                break
            heappop(self._by_issue)
            self._used.discard(oldest)
            if not is_over:
                self._begins_ms = max(self._begins_ms, oldest_ms + 1)
        self.check(signature, issued_ms)
        digest = sha256(signature).digest()
        self._used.add(digest)
        heappush(self._by_issue, (issued_ms, digest))

    def check(self, signature: bytes, issued_ms: int) -> None:
        """Raises `Refused` (rule `signature`) where a good signature may have been taken before."""
        if sha256(signature).digest() in self._used or issued_ms < self._begins_ms:
            raise Refused(
                "this signature opened a stream before, or may have: sign the request anew",
                SIGNATURE,
            )
