"""What the worst documents under the size limits cost to refuse or accept, in milliseconds of
processor time: read, placed, kept in an index and met there, deleted by; and held against a policy
of a thousand rules.  The target is 20 ms.

One JSON line a door, and one for all policies; nothing is asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from meteor.security.deciding import Decider
from meteor.security.policy import Request
from tests.benchmarks.measuring import report
from tests.hostile.corpus import everything
from tests.hostile.doors import DOORS, knock
from tests.hostile.policies import PAIRS, RULES, policy_of, profile_of

pytestmark = pytest.mark.benchmark


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """The best of some: other work on the machine only ever adds."""
    taken = []
    for _ in range(times):
        began_s = time.process_time()
        work()
        taken.append(time.process_time() - began_s)
    return min(taken) * 1000


@pytest.mark.parametrize("door", DOORS)
def test_the_worst_documents(door: str) -> None:
    costs = sorted(
        (
            (milliseconds(lambda data=data: knock(door, data)), name)  # type: ignore[misc]
            for where, name, data in everything()
            if where == door
        ),
        reverse=True,
    )
    report(
        "hostile", door=door, documents=len(costs), worst_ms=costs[0][0],
        worst=[f"{name}: {cost:.1f}" for cost, name in costs[:5]],
    )  # fmt: skip


def test_the_worst_posts_under_a_policy() -> None:
    """Beside what a walk from rule to rule takes."""
    costs = []
    for pair in PAIRS:
        policy, profile = policy_of(pair), profile_of(pair)
        decider = Decider(policy)
        for is_subject in (True, False):
            request = Request("", "retrieve", profile, is_subject)
            cost = milliseconds(lambda: decider.decide(request))  # noqa: B023 - called at once
            walk = milliseconds(lambda: policy.decide(request), times=2)  # noqa: B023 - as above
            costs.append((cost, walk, pair.name))
    costs.sort(reverse=True)
    report(
        "policies", rules=RULES, posts=len(costs), worst_ms=costs[0][0],
        worst=[f"{name}: {cost:.1f}, a walk {walk:.0f}" for cost, walk, name in costs[:6]],
    )  # fmt: skip
