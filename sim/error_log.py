"""The log as an oracle: what is logged as an error while a run lasts fails it.

Law of this file: warnings pass; nothing is printed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Collector(logging.Handler):
    """Keeps the text of each record of level ERROR and above."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        self._texts.append(f"logged as {record.levelname}: {record.getMessage()}")


@contextmanager
def error_log() -> Iterator[list[str]]:
    """The errors that are logged within the block, in order."""
    texts: list[str] = []
    collector = _Collector(texts)
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield texts
    finally:
        root.removeHandler(collector)
