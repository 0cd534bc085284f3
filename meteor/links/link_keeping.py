"""Which links a peer keeps open, and under which names it finds them.

Law of this file: pure.  Ring links stay warm by their own traffic; a link that nobody used for a
minute is closed, and of more than `kept_max` the least recently used are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from chord import Contact

LinkT = TypeVar("LinkT")

IDLE_S: Final = 60.0
"""A link that carried nothing for this long is closed."""
KEPT_MAX: Final = 64
"""Links kept by one peer, those to clients not counted (DESIGN section 6)."""
TIDY_EVERY_S: Final = 10.0
"""How often a peer looks at its links."""


@dataclass(frozen=True, slots=True)
class LinkUse:
    """When a link last carried a frame, and whether somebody waits for something on it."""

    address: str
    used_s: float
    busy: bool


def surplus(uses: Sequence[LinkUse], now_s: float, kept_max: int = KEPT_MAX) -> list[str]:
    """The addresses whose links should be closed, longest unused first; busy ones are kept."""
    quiet = sorted((use for use in uses if not use.busy), key=lambda use: (use.used_s, use.address))
    over = max(len(uses) - kept_max, 0)
    return [use.address for i, use in enumerate(quiet) if i < over or now_s - use.used_s >= IDLE_S]


def name_of(contact: Contact) -> object:
    """Under which a link to that contact is sought: a peer's address; a client has none, and is
    sought as it is."""
    return contact.address or contact


class NamedLinks(Generic[LinkT]):
    """Links by name.  One to a peer has two names where it was dialled at another address than the
    peer gives itself: a name of DNS, another one of its host's; with its end both are free."""

    __slots__ = ("_by_name", "_names", "find")

    def __init__(self) -> None:
        self._by_name: dict[object, LinkT] = {}
        self._names: dict[LinkT, list[object]] = {}
        self.find: Callable[[object], LinkT | None] = self._by_name.get
        """The link of that name; None without one."""

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[LinkT]:
        """Each link once, in the order in which they were added; what is added or removed
        meanwhile does not matter."""
        return iter(list(self._names))

    def add(self, name: object, link: LinkT) -> None:
        """Let a link be found under one more name; who had that name has none any more, and all
        that he had are this one's."""
        before = self._by_name.get(name)
        names = [name] if before is None else self._names.pop(before)
        self._by_name.update(dict.fromkeys(names, link))
        self._names.setdefault(link, []).extend(names)

    def remove(self, link: LinkT) -> None:
        """Let it be found no more; harmless when it is not there."""
        for name in self._names.pop(link, ()):
            del self._by_name[name]
