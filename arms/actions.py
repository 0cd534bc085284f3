"""What an action asks of the overlay: the table of reactive behaviours.

Law of this file: a table, no code that acts.  `store` and `notify_interest` post subjects, the
others selectors; what is kept, whom it meets and what follows stands in `arms.rendezvous`
(report table 2.1; SPEC section 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from arms.errors import ProfileError, UnknownAction

Kind = Literal["data", "interest", "watch"]
"""What a kept record is."""

DATA: Final[Kind] = "data"
INTEREST: Final[Kind] = "interest"
WATCH: Final[Kind] = "watch"


@dataclass(frozen=True, slots=True)
class Action:
    """One row of the table."""

    name: str
    keeps: Kind | None
    """What its record is while its ttl runs; None for what is never kept."""
    is_subject: bool
    """Whether its profile is selected, or selects."""
    meets: tuple[Kind, ...]
    """Which kept records it meets on arrival, in this order."""
    deletes: tuple[Kind, ...] = ()
    """Which of the sender's own records it removes."""
    ttl_s: float = 0.0
    """How long it lives when its sender does not say."""


STORE: Final = Action("store", DATA, True, (INTEREST,), ttl_s=3600.0)
RETRIEVE: Final = Action("retrieve", INTEREST, False, (DATA, WATCH))
NOTIFY_DATA: Final = Action("notify_data", INTEREST, False, (DATA, WATCH), ttl_s=300.0)
NOTIFY_INTEREST: Final = Action("notify_interest", WATCH, True, (INTEREST,), ttl_s=300.0)
DELETE_DATA: Final = Action("delete_data", None, False, (), deletes=(DATA,))
DELETE_INTEREST: Final = Action("delete_interest", None, False, (), deletes=(INTEREST, WATCH))

ACTIONS: Final = {
    action.name: action
    for action in (STORE, RETRIEVE, NOTIFY_DATA, NOTIFY_INTEREST, DELETE_DATA, DELETE_INTEREST)
}

_NAME: Final = re.compile(r"[^\W\d][\w.-]{0,63}")
"""What the report's `name(reply address)` can carry, at a bounded length."""
SLIP: Final = 0.85
"""How alike (difflib's ratio) a name is to one of ours that nobody means as another action:
`notify_date` is, `retrieve_all` is not."""

_CALL = re.compile(r"\s*([^\W\d][\w.-]*)\s*(?:\(\s*([^()\s]*)\s*\)\s*)?")


def action_named(name: str, application: Iterable[str] = ()) -> Action:
    """The action of this name; one of the `application`'s selects data and keeps nothing.

    Raises `UnknownAction`.
    """
    action = ACTIONS.get(name)
    if action is not None:
        return action
    known = sorted(application)
    if name in known:
        return Action(name, None, False, (DATA,))
    raise UnknownAction(name, (*ACTIONS, *known))


def any_action(name: str) -> Action:
    """The action of this name; of one that is none of ours, the row of an application's.

    Raises `UnknownAction` for what is no name, or is so near to one of ours that it is a slip."""
    action = ACTIONS.get(name)
    if action is not None:
        return action
    plain = name.casefold().replace("-", "_").strip()
    if _NAME.fullmatch(name) is None or get_close_matches(plain, ACTIONS, 1, SLIP):
        raise UnknownAction(name, tuple(ACTIONS))
    return action_named(name, (name,))


def parse_call(text: str) -> tuple[str, str]:
    """The name and the reply address of `retrieve(123.34.56.78:9999)`, the address empty where
    there is none; raises `ProfileError`."""
    found = _CALL.fullmatch(text)
    if found is None:
        raise ProfileError(f"{text!r} is not an action: write name, or name(host:port)")
    return found[1], found[2] or ""
