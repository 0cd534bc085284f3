"""What Meteor raises: one root, a class for each cause, and their way over the wire.

Law of this file: every text says the operation, the value, the limit or the peer, and what to do.
Every error pickles: what it carries stands in `args` and in attributes that have defaults.  A
peer's refusal travels as a `chord.Fault` whose kind is the class's name, and comes out at the
client as the same class with the same fields (SPEC section 5).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from arms import ProfileError, SelectorError, UnknownAction
from chord import Busy, Fault, MeteorError, NotJoined, RemoteFault, Supplanted
from meteor.receipt import Receipt
from squid import Interval, LimitExceeded, SpaceError, SpaceMismatch, TypeMismatch

__all__ = [
    "MeteorError",
    "SelectorError", "ProfileError", "TypeMismatch", "LimitExceeded", "SpaceError",
    "UnknownAction", "SpaceMismatch", "VersionMismatch",
    "Incomplete", "Timeout", "NotConnected", "JoinFailed", "Refused", "Busy", "SlowConsumer",
    "DataDirLocked", "AddressInUse", "CertificateError", "Closed", "Supplanted",
    "Interval", "to_fault", "from_fault",
]  # fmt: skip


class VersionMismatch(MeteorError):
    """The two sides speak different versions of the wire: `.ours` and `.theirs`."""

    def __init__(self, message: str, ours: int = 0, theirs: int = 0) -> None:
        super().__init__(message)
        self.ours, self.theirs = ours, theirs


class Incomplete(MeteorError):
    """Part of the content's region did not answer in time.

    `.matches` is what was found, of an application's action its results (empty where an iteration
    has handed them out already), `.receipt` what is known of the post, `.missing` the intervals of
    curve indexes that stay open.  `allow_partial=True` turns this error into those flags."""

    def __init__(
        self,
        message: str,
        matches: Sequence[Any] = (),
        receipt: Receipt | None = None,
        missing: Sequence[Interval] = (),
    ) -> None:
        super().__init__(message)
        self.matches, self.receipt, self.missing = list(matches), receipt, tuple(missing)


class Timeout(MeteorError, TimeoutError):
    """No answer within the time that the caller gave."""


class NotConnected(MeteorError, ConnectionError):
    """No peer of the client's list answers: `.tried` says which, and why not.

    With `.may_be_done` a peer had been asked before its link broke: what was posted may be there.
    The same again does no harm under an `id` of your own; under a new one it may come twice."""

    may_be_done: bool = False

    def __init__(self, message: str, tried: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.tried = tuple(tried)


class JoinFailed(MeteorError, ConnectionError):
    """A peer found no ring to join: `.tried` says whom it asked, and why not."""

    def __init__(self, message: str, tried: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.tried = tuple(tried)


class Refused(MeteorError, PermissionError):
    """A policy of the overlay does not allow it: `.rule` names the rule."""

    def __init__(self, message: str, rule: str = "") -> None:
        super().__init__(message)
        self.rule = rule


class SlowConsumer(MeteorError):
    """Notifications came faster than they were taken: `.limit` is the queue's length."""

    def __init__(self, message: str, limit: int = 0) -> None:
        super().__init__(message)
        self.limit = limit


class DataDirLocked(MeteorError, OSError):
    """Another process uses this data directory: `.path`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class AddressInUse(MeteorError, OSError):
    """Somebody listens at this address already: `.address`."""

    def __init__(self, message: str, address: str = "") -> None:
        super().__init__(message)
        self.address = address


class CertificateError(MeteorError, ValueError):
    """A file of keys or certificates cannot be used: `.path`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Closed(MeteorError):
    """The client, peer, answer or interest was closed before."""


_KINDS: Final[dict[str, type[MeteorError]]] = {
    kind.__name__: kind
    for kind in (
        SelectorError,
        ProfileError,
        TypeMismatch,
        LimitExceeded,
        SpaceError,
        SpaceMismatch,
        UnknownAction,
        VersionMismatch,
        Timeout,
        Refused,
        Busy,
        Closed,
        NotJoined,
        MeteorError,
    )
}
"""What a peer may refuse with.  Errors about the client's own side never travel."""


def to_fault(error: MeteorError) -> Fault:
    """The refusal that carries this error to the client which asked."""
    kind = next((k.__name__ for k in type(error).__mro__ if k.__name__ in _KINDS), "MeteorError")
    try:
        carried = json.dumps([_carried_args(error), vars(error)])
    except (TypeError, ValueError):  # a field that JSON cannot say: the text still travels
        return Fault(kind, str(error))
    return Fault(kind, str(error), (carried,))


def from_fault(fault: RemoteFault) -> MeteorError:
    """The error that the peer meant; an unknown kind or damaged fields give a `MeteorError` with
    the peer's text."""
    kind = _KINDS.get(fault.kind)
    if kind is None:
        return MeteorError(f"the peer failed with {fault.kind}: {fault.message}")
    try:
        error = _made_again(kind, fault)
        str(error)  # hostile fields may not even make a text
    except (TypeError, ValueError, AttributeError, LookupError):
        return _bare(kind, fault.message)
    return error


def _made_again(kind: type[MeteorError], fault: RemoteFault) -> MeteorError:
    """The error with the fields that the fault carries; raises whatever damaged ones lead to."""
    args, fields = json.loads(fault.details[0]) if fault.details else ([fault.message], {})
    error = kind(*(_as_kept(one) for one in args))
    for name in sorted(vars(error).keys() & fields.keys()):
        setattr(error, name, _as_kept(fields[name]))
    return error


def _carried_args(error: MeteorError) -> list[Any]:
    """The arguments that make the error again, as pickling would have them."""
    reduced = error.__reduce__()
    return list(reduced[1]) if isinstance(reduced, tuple) else [str(error)]


def _as_kept(value: Any) -> Any:
    """JSON knows no tuples; errors keep nothing else."""
    return tuple(_as_kept(item) for item in value) if isinstance(value, list) else value


def _bare(kind: type[MeteorError], message: str) -> MeteorError:
    """The class with its text alone, or the root if the class needs more than a text."""
    try:
        return kind(message)
    except TypeError:
        return MeteorError(f"{kind.__name__}: {message}")
