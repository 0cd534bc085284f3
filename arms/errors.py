"""What arms refuses: texts, documents and actions that it does not understand.

Law of this file: every error pickles with its fields, and its text says where, why and what to
write instead.  Values against a declared type raise squid's `TypeMismatch`, anything above a
limit squid's `LimitExceeded`.
"""

from __future__ import annotations

from squid import MeteorError


class ArmsError(MeteorError):
    """Root of what arms raises."""


class SelectorError(ArmsError, ValueError):
    """A selector text is refused: `position` (characters from 0) points at the cause, `reason`
    says what is wrong and `cure` what to write instead."""

    def __init__(self, text: str, position: int, reason: str, cure: str) -> None:
        super().__init__(text, position, reason, cure)
        self.text, self.position, self.reason, self.cure = text, position, reason, cure

    def __str__(self) -> str:
        return f"{self.reason}; {self.cure}\n{self._excerpt()}"

    def _excerpt(self) -> str:
        """The line around the position with a caret under it, cut to a terminal's width."""
        start = max(0, self.position - 50)
        line = "".join(c if c.isprintable() else " " for c in self.text[start : start + 100])
        return f"  {line}\n  {' ' * (self.position - start)}^"


class ProfileError(ArmsError, ValueError):
    """A profile or message, as XML, as a mapping or packed, is malformed."""


class UnknownAction(ArmsError, ValueError):
    """A message names an action that this peer does not have."""

    def __init__(self, action: str, known: tuple[str, ...]) -> None:
        super().__init__(action, known)
        self.action, self.known = action, known

    def __str__(self) -> str:
        return f"no action {self.action!r} here; known are {', '.join(self.known)}"
