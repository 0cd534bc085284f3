"""What waits for reply addresses: queues bounded in number and in bytes, each and together.

Law of this file: synchronous and pure.  The oldest goes first, as in the queues of interests; where
all together are too much, the oldest of the address that keeps most: an address that takes nothing
costs itself its documents, and not the others.
"""

from __future__ import annotations

from collections import deque
from typing import Final

ADDRESSES_MAX: Final = 256
"""Addresses that are being sent to at once."""
WAITING_MAX: Final = 1000
"""Documents that may wait for one address; the oldest is dropped for one more."""
BYTES_EACH: Final = 32 * 1024 * 1024
"""Of the documents of one address, that which is on its way included.  One result has some 22 MiB
at most: a page of 16 (`paging.PAGE_BYTES_MAX`) in base64."""
BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all together."""

Letter = tuple[bytes, str]
"""A document and its media type."""


class _Queue:
    """What one address is to get."""

    __slots__ = ("letters", "on_its_way", "size")

    def __init__(self) -> None:
        self.letters: deque[Letter] = deque()
        self.size = 0
        self.on_its_way = 0
        """Bytes of the document that is being sent; in `size` too."""


class Waiting:
    """The documents of all addresses."""

    def __init__(self, bytes_each: int = BYTES_EACH, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_each, self._bytes_max = bytes_each, bytes_max
        self._queues: dict[str, _Queue] = {}
        self.size = 0
        """Bytes of all of them."""

    def __len__(self) -> int:
        return len(self._queues)

    def is_known(self, address: str) -> bool:
        """Whether the address is being sent to."""
        return address in self._queues

    def put(self, address: str, letter: Letter) -> list[str]:
        """Queue a document; the addresses of those that are dropped for it, itself perhaps."""
        size = len(letter[0])
        queue = self._queues.get(address)
        if queue is None:
            if len(self._queues) >= ADDRESSES_MAX:
                return [address]
            queue = self._queues[address] = _Queue()
        dropped = []
        while queue.letters and (
            len(queue.letters) >= WAITING_MAX or queue.size + size > self._bytes_each
        ):
            self._drop_oldest(queue)
            dropped.append(address)
        if queue.size + size > self._bytes_each:
            return [*dropped, address]
        queue.letters.append(letter)
        self._add(queue, size)
        while self.size > self._bytes_max:
            fullest = max(self._queues, key=lambda one: self._of_letters(self._queues[one]))
            self._drop_oldest(self._queues[fullest])
            dropped.append(fullest)
        return dropped

    def next(self, address: str) -> Letter | None:
        """What to send now; it counts until this is asked again.  None when there is no more: the
        address is known no longer."""
        queue = self._queues[address]
        self._add(queue, -queue.on_its_way)
        queue.on_its_way = 0
        if not queue.letters:
            del self._queues[address]
            return None
        letter = queue.letters.popleft()
        queue.on_its_way = len(letter[0])
        return letter

    def leave(self, address: str) -> int:
        """Forget an address; how many documents it had left."""
        queue = self._queues.pop(address, None)
        if queue is None:
            return 0
        self.size -= queue.size
        return len(queue.letters)

    @staticmethod
    def _of_letters(queue: _Queue) -> int:
        return queue.size - queue.on_its_way

    def _drop_oldest(self, queue: _Queue) -> None:
        self._add(queue, -len(queue.letters.popleft()[0]))

    def _add(self, queue: _Queue, size: int) -> None:
        queue.size += size
        self.size += size
