"""The characters of a selector text: blanks, names, and the marks of which values are made.

Law of this file: a refusal points at one character and says what to write instead; nothing here
knows of levels or of kinds (SPEC section 2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from arms.errors import SelectorError
from arms.written import IS_NAME

WORD, QUOTED, DOTS, STAR = "word", "quoted", "..", "*"

END_OF_VALUE = frozenset("()|")

_BLANKS = re.compile(r"\s*")
_OPERATOR = re.compile(r"\s*(>=|<=|!=|=|>|<)\s*")
_PLAIN = re.compile(r"""(?:[^\s"'()|&=<>,*\\.]|\.(?!\.))+""")
"""What a bare word takes without a second look."""

REFUSED = {
    ",": ("a comma separates nothing here", "write a blank between terms, or quote the value"),
    "&": ("'&' is not a connective", "write a blank for 'and', or quote the value"),
    "=": ("'=' inside a value", "quote the value"),
    "<": ("'<' inside a value", "quote the value"),
    ">": ("'>' inside a value", "quote the value"),
    "'": ("single quotes do not quote", 'use double quotes: "..."'),
}

SLIPS = {"=>": "write >=", "=<": "write <=", "==": "write one =", "<>": "say what is wanted"}
"""Operators of elsewhere, and what stands for them here."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of a value: a bare word, a quoted text, `..` or `*`."""

    kind: str
    text: str
    position: int
    star: bool = False
    """Of a quoted text: it ends in an unescaped star, which `text` leaves out."""


class Cursor:
    """A place in a selector text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def peek(self, ahead: int = 0) -> str:
        """The character `ahead` of here, or '' behind the end."""
        at = self.position + ahead
        return self.text[at : at + 1]

    def starts(self, token: str) -> bool:
        """Whether the text goes on with `token`."""
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        """Step over `token` if the text goes on with it."""
        if not self.starts(token):
            return False
        self.position += len(token)
        return True

    def skip_blanks(self) -> bool:
        """Step over blanks; whether there were any."""
        start = self.position
        found = _BLANKS.match(self.text, start)
        assert found is not None
        self.position = found.end()
        return self.position > start

    def refuse(self, reason: str, cure: str, position: int | None = None) -> SelectorError:
        """The error that points here (or at `position`)."""
        return SelectorError(
            self.text, self.position if position is None else position, reason, cure
        )

    def operator(self) -> str:
        """Step over an operator and the blanks around it; '' and no step where there is none.
        Raises `SelectorError` for `!=`."""
        found = _OPERATOR.match(self.text, self.position)
        if found is None:
            return ""
        if found[1] == "!=":
            raise self.refuse(
                "'!=' is not in the language", "say what is wanted, as a range", found.start(1)
            )
        slip = self.text[found.start(1) : found.end(1) + 1]
        if slip in SLIPS:
            raise self.refuse(f"{slip!r} is no operator", SLIPS[slip], found.start(1))
        self.position = found.end()
        return found[1]

    def name(self) -> str:
        """Read an element's name; raises `SelectorError`."""
        found = IS_NAME.match(self.text, self.position)
        if found is None:
            char = self.peek()
            if not char:
                raise self.refuse("a name is missing at the end", "write an attribute's name")
            reason, cure = REFUSED.get(
                char, (f"no name begins with {char!r}", "names begin with a letter")
            )
            raise self.refuse(reason, cure)
        self.position = found.end()
        return found[0]

    def marks(self) -> list[Mark]:
        """Read one value: the longest run without an unescaped blank, parenthesis or bar."""
        marks: list[Mark] = []
        while (char := self.peek()) and char not in END_OF_VALUE and not char.isspace():
            marks.append(self._mark(char))
        return marks

    def _mark(self, char: str) -> Mark:
        start = self.position
        if char == '"':
            return self._quoted()
        if self.starts("..."):
            raise self.refuse("'...' is not a range", "write two dots: 20..30")
        if self.take(DOTS):
            return Mark(DOTS, DOTS, start)
        if self.take(STAR):
            return Mark(STAR, STAR, start)
        return self._word()

    def _word(self) -> Mark:
        start = self.position
        chars: list[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.position)
            if plain is not None:
                chars.append(plain[0])
                self.position = plain.end()
            char = self.peek()
            if char in REFUSED:
                raise self.refuse(*REFUSED[char])
            if char != "\\":
                break
            chars.append(self.escaped())
            self.position += 1
        return Mark(WORD, "".join(chars), start)

    def escaped(self) -> str:
        """The character behind a backslash; the cursor is left on it."""
        self.position += 1
        if not self.peek():
            raise self.refuse(
                "a backslash at the end escapes nothing", r"write \\ for the character itself",
                self.position - 1,
            )  # fmt: skip
        return self.peek()

    def _quoted(self) -> Mark:
        start = self.position
        chars: list[str] = []
        star = -1
        self.position += 1
        while (char := self.peek()) != '"':
            if not char:
                raise self.refuse("the quote is not closed", 'close it with "', start)
            if star >= 0:
                raise self.refuse(
                    "a star stands only at the end", r"escape a literal star: \*", star
                )
            if char == "*":
                star = self.position
            else:
                chars.append(self.escaped() if char == "\\" else char)
            self.position += 1
        self.position += 1
        return Mark(QUOTED, "".join(chars), start, star >= 0)
