"""The line that repeats a run.

Law of this file: what is printed repeats the very run that it stands under, with the same digest:
the command where it is one of a named scenario as it is named, else a call that says what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Final, Protocol


class Playable(Protocol):
    """What is looked at of a scenario: a frozen dataclass with a name."""

    @property
    def name(self) -> str:
        """As `meteor-sim scenario` knows it, if it does."""


COMMAND: Final = "sim.scenarios.EVERY"
"""Of these `meteor-sim scenario` runs one by its name."""
NAMED: Final[dict[str, Mapping[str, Playable]]] = {}
"""The scenarios that have names, by where a program finds them, the shortest way first.  They are
noted by the module that makes them: it is made of what calls this one."""


def line_that_repeats(scenario: Playable, seed: int, *given: str) -> str:
    """Of a run of one seed; `given` are the names of arguments beside these two."""
    name, named = scenario.name, NAMED.get(COMMAND, {}).get(scenario.name)
    if scenario == named and not given:
        return f"meteor-sim scenario {name} --seed {seed}"
    what = next((f"{where}[{name!r}]" for where, all_ in NAMED.items() if name in all_), "")
    if type(named) is not type(scenario):
        what = f"<the {type(scenario).__name__} {name!r} of your program>"
    elif changes := _changes(scenario, named):
        what = f"replace({what}, {changes})"
    if given:
        return f"sim.run({what}, {seed}, {', '.join(f'{one}=...' for one in given)})"
    return f"{what}.play({seed})"


def _changes(scenario: object, named: object) -> str:
    names = [field.name for field in fields(scenario)]  # type: ignore[arg-type]
    return ", ".join(
        f"{name}={getattr(scenario, name)!r}"
        for name in names
        if getattr(scenario, name) != getattr(named, name)
    )
