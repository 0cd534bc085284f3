"""Large policies, and posts made to be dear under them: by name, the selector of rule number `at`,
the post, and what a plain walk says (None: it takes too many steps, and is refused).

Whoever finds a worse pair adds it here; the test counts what each costs, the benchmark times it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from arms import Profile
from meteor.security.policy import Policy, Rule
from tests.hostile.doors import SPACE

RULES: Final = 1_000


class Pair(NamedTuple):
    """A policy and a post."""

    name: str
    selector: Callable[[int], str]
    post: str
    allows: bool = True
    """Whether its rules allow."""
    is_simple: bool = False
    """Whether it must be decided exactly."""


def each(of: str, numbers: range, between: str = " | ") -> str:
    return between.join(of.replace("#", str(at)).replace("+", str(at + 9)) for at in numbers)


def eight(of: str) -> Callable[[int], str]:
    """Eight alternatives a rule, none in two."""
    return lambda at: each(of, range(8 * at, 8 * at + 8))


PAIRS: Final = (
    Pair("one term", lambda at: f"word=a{at}", "word=z number=2", is_simple=True),
    Pair("one term, an interest of eight", lambda at: f"word=a{at}", each("word=b#", range(8)),
         is_simple=True),
    Pair("a range each", lambda at: f"word=lamp t={at}..{at + 2}", "word=lamp t=2000 u=1 v=2",
         is_simple=True),
    Pair("a range each, an interest of two", lambda at: f"word=lamp t={at}..{at + 2}",
         "word=lamp (t=2000 | t=2001)", is_simple=True),
    Pair("denied one term", lambda at: f"word=a{at}", "word=z number=2", False, is_simple=True),
    Pair("denied a range each", lambda at: f"word=lamp t={at}..{at + 2}", "word=lamp t=2000 u=1",
         False, is_simple=True),
    Pair("eight words", eight("word=a#"), "word=a7999 number=2", is_simple=True),
    Pair("the same eight", lambda _: each("word=a#", range(8)), each("word=a#", range(1, 9)),
         is_simple=True),
    Pair("eight anywhere", eight("//x=#"), "x=7999 word=a", is_simple=True),
    Pair("sixty words", lambda at: each("word=a#", range(60 * at, 60 * at + 60)), "word=a59999",
         is_simple=True),
    Pair("one of 63", lambda at: f"word=a{at}", each("word=a#", range(63))),
    Pair("one of 63 by eight", eight("word=a#"), each("word=a#", range(0, 504, 8))),
    Pair("ranges by eight", eight("x=#..+"), each("x=#..+", range(0, 480, 8))),
    Pair("ranges that are all there", eight("x=#..+"), each("x=#..+", range(0, 480, 8), " ")),
    Pair("anywhere by eight", eight("//x=#"), each("x=#", range(0, 504, 8))),
    Pair("anywhere, deep", eight("//x=#..+"),
         f"x(x(x(x({each('x=#..+', range(0, 400, 8), ' ')}))))"),
    Pair("anywhere below anywhere", eight("//x(//x=#..+)"),
         f"x(x(x(x({each('x=#..+', range(0, 400, 8), ' ')}))))"),
    Pair("choices of choices", lambda at: each("(t=#..+ | u=#..+)", range(at, at + 6), " "),
         each("(t=#..+ | u=#..+)", range(6), " ") + " " + each("x=#", range(40), " ")),
    Pair("sixty words of sixty", lambda at: each("x=#", range(60 * at, 60 * at + 60)),
         each("x=#", range(0, 3780, 60))),
    Pair("fifty that hold and one that does not",
         lambda at: each(f"x#=1..{at + 2}", range(50), " ") + f" y={at}..{at + 1}",
         each("x#=1..2", range(60), " ") + " y=2000..2001"),
    Pair("denied fifty that meet and one that does not",
         lambda at: each(f"x#=1..{at + 2}", range(50), " ") + f" y={at}..{at + 1}",
         each("x#=1..2", range(60), " ") + " y=2000..2001", False),
)  # fmt: skip


_selector = cache(Profile.parse)
"""Several pairs have the same ones, and reading thousands is what the tests of them cost."""


@cache
def policy_of(pair: Pair) -> Policy:
    """A thousand rules, for everybody; what none speaks of is decided otherwise than they do."""
    rules = tuple(
        Rule(f"r{at}", pair.allows, ("anyone",), selector=_selector(pair.selector(at)))
        for at in range(RULES)
    )
    return Policy(not pair.allows, rules).typed(SPACE)


def profile_of(pair: Pair) -> Profile:
    """What is posted."""
    return Profile.parse(pair.post, SPACE)
