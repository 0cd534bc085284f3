"""A policy file: read at start, and again whenever it changes, without a restart.

Law of this file: a bad file never opens and never closes a peer: the policy before it stays, and
the log says what is wrong with it.  The file is looked at by its size and times; whoever puts a new
one in its place by renaming is seen too.  The largest that may be takes a second to read: that is
done aside, while the peer serves by the policy before it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

from chord import Runtime
from meteor.errors import MeteorError
from meteor.security.deciding import Ready, taken_apart
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy import Policy
from meteor.security.policy_toml import POLICY_BYTES_MAX, PolicyError, parse_policy

LOOK_S: Final = 1.0
"""How often the file is looked at: how late a change takes effect at most."""

_log = logging.getLogger("meteor.policy")

Stamp = tuple[int, int, int]
T = TypeVar("T")


class Aside(Protocol):
    """Does some work while the event loop goes on; in virtual time at once."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """What the work gives, or raises."""
        ...


class PolicyFile:
    """The file, and what of it was read last."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stamp: Stamp | None = None
        self._begun = self._taken = 0

    def begin(self) -> int:
        """It is about to be read as it is now; returns the number of this reading."""
        self._stamp = self._look()
        self._begun += 1
        return self._begun

    def takes(self, reading: int) -> bool:
        """Whether the policy of a reading is to hold: not when that of a later one does."""
        if reading < self._taken:
            return False
        self._taken = reading
        return True

    def read(self) -> Policy:
        """The policy as it stands, for any thread; raises `PolicyError`, also when there is no
        file."""
        try:
            with self.path.open("rb") as file:
                text = file.read(POLICY_BYTES_MAX + 1).decode()
            return parse_policy(text)
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            raise PolicyError(f"policy {self.path}: {error}") from error

    def has_changed(self) -> bool:
        """Whether it is another file than the one read last, gone, or back."""
        return self._look() != self._stamp

    def _look(self) -> Stamp | None:
        try:
            state = self.path.stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_ino


async def reload_policy(file: PolicyFile, gatekeeper: Gatekeeper, aside: Aside) -> None:
    """Let the file's policy hold from now on; raises `PolicyError`, and the old one stays."""
    reading = file.begin()
    done_with = [await aside(partial(_made_ready, file, gatekeeper))]
    if file.takes(reading):
        policy = done_with[0].policy
        rules, quotas = len(policy.rules), len(policy.quotas)
        del policy
        done_with = [gatekeeper.take(done_with.pop())]
        _log.info("policy %s: %d rules, %d quotas", file.path, rules, quotas)
    await aside(partial(_give_back, done_with))


def _made_ready(file: PolicyFile, gatekeeper: Gatekeeper) -> Ready:
    policy = file.read()
    try:
        return gatekeeper.made_ready(policy)
    except MeteorError as error:
        raise PolicyError(f"policy {file.path}: {error}") from error
    finally:
        rules = [*policy.rules]
        del policy
        while rules:  # in one step, they would hold all threads
            rules.pop()


def _give_back(done_with: list[Ready]) -> None:
    for _ in taken_apart(done_with):
        continue


async def watch_over(
    runtime: Runtime, file: PolicyFile, gatekeeper: Gatekeeper, aside: Aside
) -> None:
    """Follow the file for as long as the peer lives."""
    while True:
        await runtime.sleep(LOOK_S)
        if not file.has_changed():
            continue
        try:
            await reload_policy(file, gatekeeper, aside)
        except PolicyError as error:
            _log.error("%s; the policy before it stays in force", error)
