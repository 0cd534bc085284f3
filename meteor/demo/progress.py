"""A progress bar on standard error, where that is a terminal; a line at the end elsewhere."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Final, Self, TextIO

WIDTH: Final = 40
REDRAW_S: Final = 0.1


class Progress:
    """`with Progress("peers", 16) as bar: bar.step()`."""

    def __init__(self, label: str, steps: int, stream: TextIO | None = None) -> None:
        self._label, self._steps = label, max(steps, 1)
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._done = 0
        self._began_s = self._drawn_s = perf_counter()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        now_s = perf_counter()
        if self._shown and (now_s - self._drawn_s >= REDRAW_S or self._done == self._steps):
            self._drawn_s = now_s
            self._stream.write(f"\r{self.line()}")
            self._stream.flush()

    def line(self) -> str:
        """The bar as it stands."""
        share = min(self._done / self._steps, 1.0)
        bar = ("█" * round(WIDTH * share)).ljust(WIDTH, "·")
        seconds = perf_counter() - self._began_s
        return f"{self._label:<10} {bar} {self._done:>6,} of {self._steps:,}  {seconds:5.1f} s"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.write(f"\r{self.line()}\n" if self._shown else f"{self.line()}\n")
