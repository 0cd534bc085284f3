"""What squid refuses, told apart by whose input was wrong.

Law of this file: every error pickles with its fields, and its text says the value, the limit and
what to do.
"""

from __future__ import annotations

from chord import MeteorError


class SquidError(MeteorError):
    """Root of what squid raises."""


class CurveError(SquidError, ValueError):
    """A point, an index or a box does not fit the curve."""


class SpaceError(SquidError, ValueError):
    """A keyword space is declared, written or asked wrongly."""


class TypeMismatch(SquidError, ValueError):
    """A value is not of the kind that its dimension declares."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(name, value, expected)
        self.name, self.value, self.expected = name, value, expected

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value!r} is not {self.expected}; "
            "give one, the keyword space asks for it"
        )


class LimitExceeded(SquidError, ValueError):
    """Something is larger or longer than the limit that `name` names."""

    def __init__(self, name: str, value: object, limit: object) -> None:
        super().__init__(name, value, limit)
        self.name, self.value, self.limit = name, value, limit

    def __str__(self) -> str:
        return (
            f"{self.name} is {self.value}, at most {self.limit} are allowed; give less, or split it"
        )


class SpaceMismatch(SquidError):
    """Two peers, or a peer and a client, do not share one keyword space."""

    def __init__(self, difference: str) -> None:
        super().__init__(difference)
        self.difference = difference

    def __str__(self) -> str:
        return f"keyword spaces differ: {self.difference}; take the ring's, or join another"
