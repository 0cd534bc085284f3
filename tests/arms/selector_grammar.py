"""The grammar of the selector language as it is written down, read by regular expressions.

A dumb twin of the parser: it only says whether a text has the form, and knows no meaning.
"""

from __future__ import annotations

import re

NAME = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+)*")
NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
QUANTITY = rf"{NUMBER}(?:[A-Za-z%]+)?"
WORD = r"""(?:[^\s"'()|&=<>,*\\.]|\.(?!\.)|\\.)+"""
QUOTED = r'"(?:[^"\\]|\\.)*"'
SCALAR = f"(?:{QUOTED}|{WORD})"
RANGE = (
    rf"(?:{SCALAR}\.\.(?:{SCALAR}|\*)?|\*?\.\.{SCALAR}"
    rf"|{QUANTITY}-{QUANTITY}|{QUANTITY}-\*|\*-{QUANTITY})"
)
PARTIAL = rf'(?:{WORD}\*|"(?:[^"\\*]|\\.)*\*")'
VALUE = re.compile(rf"(?:\*|{RANGE}|{PARTIAL}|{SCALAR})", re.DOTALL)
BOUND = re.compile(SCALAR, re.DOTALL)
OPERATOR = re.compile(">=|<=|=|>|<")
RUN = re.compile(r'(?:\\.|"(?:[^"\\]|\\.)*"|[^\s()|\\])+', re.DOTALL)
"""A value reaches as far as no blank, parenthesis or bar stands bare."""


class _Text:
    """One text and how far it is read."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def skip(self) -> bool:
        begin = self.at
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.at > begin

    def take(self, *signs: str) -> bool:
        for sign in signs:
            if self.text.startswith(sign, self.at):
                self.at += len(sign)
                return True
        return False

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def level(self) -> bool:
        """level = term , { blank , term } | term , { [blank] , "|" , [blank] , term }"""
        self.skip()
        connective = ""
        while self.term():
            before, apart = self.at, self.skip()
            if self.at == len(self.text) or self.text[self.at] == ")":
                return True
            found = "|" if self.take("|") else " " if apart else ""
            if not found:
                self.at = before
                return True
            if connective not in ("", found):
                return False
            connective = found
            self.skip()
        return False

    def term(self) -> bool:
        """term = path , [ test ] , [ "(" level ")" ] | "(" level ")" """
        if self.take("("):
            return self.group()
        self.take("//")
        while True:
            if self.match(NAME) is None:
                return False
            if not self.take("//", "/"):
                break
        before = self.at
        self.skip()
        operator = self.match(OPERATOR)
        if operator is None:
            self.at = before
        else:
            self.skip()
            written = self.match(RUN) or ""
            if not (VALUE if operator == "=" else BOUND).fullmatch(written):
                return False
        return self.group() if self.take("(") else True

    def group(self) -> bool:
        """What follows an opened parenthesis."""
        return self.level() and self.take(")")


def has_the_form(text: str) -> bool:
    """Whether a text is a selector by the grammar alone."""
    reader = _Text(text)
    if not reader.level():
        return False
    reader.skip()
    return reader.at == len(text)
