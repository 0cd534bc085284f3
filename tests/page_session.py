"""A page of the documentation, followed as a reader would: every block of it is run.

Law of this file: what a page says is what is executed, in an empty folder, in the order of the
page; only port numbers are others, so that pages can be followed at the same time.

The conventions of the pages:

- `toml title="FILE"` (any language with a title that is a file's name) is written to that file;
- `python` is run as a program of its own; with a title it is written to that file and run;
- `sh` is run by bash; `sh title="terminal N"` starts something that stays, in the background, and
  goes on when it has said its first line (or, with `{quiet}`, at once);
- `text` right after a block is what that block prints: `…` stands for anything within a line, a
  line `…` for any lines.  That of a terminal may come until the page ends.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')
PORT = re.compile(r"\b74\d\d\b")
PATIENCE_S = 60.0
"""How long a command of a page may take: a bound for what hangs, nothing is measured."""


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    attributes: str
    text: str

    @property
    def title(self) -> str:
        """Its title, empty without one."""
        found = TITLE.search(self.attributes)
        return found[1] if found else ""


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(*found.groups()) for found in BLOCK.finditer(page)]


def matches(said: str, shown: str) -> bool:
    """Whether what was said is what the page shows."""
    pattern = []
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern.append(r"(?:[^\n]*\n)*?")
        else:
            pattern.append(re.escape(line.rstrip()).replace("…", "[^\n]*") + r"[ \t]*\n")
    return re.fullmatch("".join(pattern), said.rstrip("\n") + "\n") is not None


@dataclass
class Terminal:
    """Something that stays while the page goes on."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    shown: str = ""
    first: threading.Event = field(default_factory=threading.Event)
    reader: threading.Thread | None = None
    more: threading.Condition = field(default_factory=threading.Condition)

    def read(self) -> None:
        """Collect what it says; run by a thread."""
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                with self.more:
                    self.said.append(line)
                    self.more.notify_all()
                self.first.set()
        self.first.set()
        with self.more:
            self.more.notify_all()

    def says(self, shown: str) -> bool:
        """Whether it says what is shown, now or soon."""
        with self.more:
            return self.more.wait_for(lambda: matches("".join(self.said), shown), PATIENCE_S)


class PageSession:
    """A reader's folder, with the page's terminals."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self._folder = folder
        self._ports: dict[str, str] = {}
        self._terminals: list[Terminal] = []
        scripts = str(Path(python).parent)
        self._environment = {
            **os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": "1",
        }  # fmt: skip

    def follow(self, page: str) -> Iterator[str]:
        """Do what the page says; yields what went otherwise than it says."""
        blocks = blocks_of(page)
        try:
            for number, block in enumerate(blocks):
                after = blocks[number + 1] if number + 1 < len(blocks) else None
                shown = after.text if after is not None and after.language == "text" else None
                yield from self._do(block, shown)
            for terminal in self._terminals:
                if terminal.shown and not terminal.says(self._renumbered(terminal.shown)):
                    yield f"a terminal said {''.join(terminal.said)!r}, not {terminal.shown!r}"
        finally:
            self._close()

    def _do(self, block: Block, shown: str | None) -> Iterator[str]:
        text = self._renumbered(block.text)
        if block.title and not block.title.startswith("terminal"):
            path = self._folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if block.language == "python":
            argument = [block.title] if block.title else ["-c", text]
            yield from self._run([sys.executable, *argument], text, shown)
        elif block.language == "sh" and block.title.startswith("terminal"):
            yield from self._open(text, shown or "", quiet="{quiet}" in block.attributes)
        elif block.language == "sh":
            yield from self._run(["bash", "-euo", "pipefail", "-c", text], text, shown)

    def _run(self, command: list[str], text: str, shown: str | None) -> Iterator[str]:
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode:
            yield f"ended with {done.returncode}: {text!r}\n{done.stdout}{done.stderr}"
        elif shown is not None and not matches(done.stdout, self._renumbered(shown)):
            yield f"said {done.stdout!r}, not {shown!r}: {text!r}"

    def _open(self, text: str, shown: str, *, quiet: bool) -> Iterator[str]:
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self._folder, env=self._environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        terminal = Terminal(process, shown=shown)
        self._terminals.append(terminal)
        terminal.reader = threading.Thread(target=terminal.read, daemon=True)
        terminal.reader.start()
        if not quiet and (not terminal.first.wait(PATIENCE_S) or not terminal.said):
            yield f"a terminal said nothing: {text!r}"

    def _renumbered(self, text: str) -> str:
        """The same with ports that are free here."""
        return PORT.sub(lambda found: self._ports.setdefault(found[0], _free_port()), text)

    def _close(self) -> None:
        for terminal in reversed(self._terminals):
            if terminal.process.poll() is None:
                os.killpg(terminal.process.pid, signal.SIGTERM)
        for terminal in self._terminals:
            try:
                terminal.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(terminal.process.pid, signal.SIGKILL)
                terminal.process.wait()
            if terminal.reader is not None:
                terminal.reader.join(PATIENCE_S)


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
