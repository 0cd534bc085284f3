"""A policy file: read at start, and again whenever it changes, without a restart.

Law of this file: a bad file never opens and never closes a peer: the policy before it stays, and
the log says what is wrong with it.  The file is looked at by its size and times; whoever puts a new
one in its place by renaming is seen too.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from chord import Runtime
from meteor.errors import MeteorError
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy import Policy
from meteor.security.policy_toml import POLICY_BYTES_MAX, PolicyError, parse_policy

LOOK_S: Final = 1.0
"""How often the file is looked at: how late a change takes effect at most."""

_log = logging.getLogger("meteor.policy")

Stamp = tuple[int, int, int]


class PolicyFile:
    """The file, and what of it was read last."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._stamp: Stamp | None = None

    def read(self) -> Policy:
        """The policy as it stands; raises `PolicyError`, also when there is no file."""
        try:
            self._stamp = self._look()
            with self.path.open("rb") as file:
                text = file.read(POLICY_BYTES_MAX + 1).decode()
            return parse_policy(text)
        except (OSError, UnicodeDecodeError, PolicyError) as error:
            raise PolicyError(f"policy {self.path}: {error}") from error

    def has_changed(self) -> bool:
        """Whether it is another file than the one read last, or gone."""
        try:
            return self._look() != self._stamp
        except OSError:
            return self._stamp is not None

    def _look(self) -> Stamp:
        state = self.path.stat()
        return state.st_mtime_ns, state.st_size, state.st_ino

    def forget(self) -> None:
        """It is gone: say so once, and look for it to come back."""
        self._stamp = None


def reload_policy(file: PolicyFile, gatekeeper: Gatekeeper) -> None:
    """Let the file's policy hold from now on; raises `PolicyError`, and the old one stays."""
    policy = file.read()
    try:
        gatekeeper.install(policy)
    except MeteorError as error:
        raise PolicyError(f"policy {file.path}: {error}") from error
    _log.info("policy %s: %d rules, %d quotas", file.path, len(policy.rules), len(policy.quotas))


async def watch_over(runtime: Runtime, file: PolicyFile, gatekeeper: Gatekeeper) -> None:
    """Follow the file for as long as the peer lives."""
    while True:
        await runtime.sleep(LOOK_S)
        if not file.has_changed():
            continue
        try:
            reload_policy(file, gatekeeper)
        except PolicyError as error:
            if not file.path.exists():
                file.forget()
            _log.error("%s; the policy before it stays in force", error)
