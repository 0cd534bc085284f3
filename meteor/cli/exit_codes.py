"""What the command line's exit codes mean (SPEC section 5).

Law of this file: an error is found by its class's name, so that nothing heavy is imported to
print a help text.
"""

from __future__ import annotations

from typing import Final

DONE: Final = 0
NO_MATCH: Final = 1
BAD_INPUT: Final = 2
INCOMPLETE: Final = 3
REFUSED: Final = 4
UNREACHABLE: Final = 5
INTERRUPTED: Final = 130

_BY_NAME: Final = {
    "SelectorError": BAD_INPUT,
    "ProfileError": BAD_INPUT,
    "TypeMismatch": BAD_INPUT,
    "LimitExceeded": BAD_INPUT,
    "SpaceError": BAD_INPUT,
    "UnknownAction": BAD_INPUT,
    "CertificateError": BAD_INPUT,
    "PolicyError": BAD_INPUT,
    "IdentityError": BAD_INPUT,
    "Incomplete": INCOMPLETE,
    "SlowConsumer": INCOMPLETE,
    "Refused": REFUSED,
    "SpaceMismatch": REFUSED,
    "VersionMismatch": REFUSED,
    "DataDirLocked": REFUSED,
    "AddressInUse": REFUSED,
    "JournalFailed": REFUSED,
    "MeteorError": UNREACHABLE,
}


def code_of(error: BaseException) -> int | None:
    """The exit code of an error of ours; None for anything else."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
