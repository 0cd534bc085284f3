"""What others acknowledged since they lost a past is a rival to who finds that without them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from chord import Contact
from meteor.copies.evidence import Evidence
from meteor.copies.found import Found
from meteor.copies.giving import HandoffConfig
from meteor.copies.heirs import Heirs
from meteor.copies.takeover import Step
from meteor.keeping.views import Views
from meteor.wire.view import Ended, Rival, View

OWN, A, B, C = (Contact(n, f"10.0.0.{n}:1") for n in range(1, 5))
WHOLE = ((0, 99),)
PAST = View(C, 1, 5, WHOLE, (OWN,))
"""Lost to A and B, who went on."""
SINCE = View(A, 2, 9, WHOLE, (B,), WHOLE)


def rivals(*evidence: Evidence, tried: bool = False, taken_in: bool = False) -> list[Rival]:
    """Beside that past, of what they say."""
    views, runtime = Views(OWN.id), SimpleNamespace(contact=OWN)
    if taken_in:
        views.taken_in.learn([Ended(A.id, 9, WHOLE)], WHOLE)
    node: Any = SimpleNamespace()
    heirs = Heirs(node, runtime, views, HandoffConfig())  # type: ignore[arg-type]
    found = Found(WHOLE[0], evidence=list(evidence))
    if tried:
        found.tried.add((SINCE.key, SINCE.epoch))
    return heirs.since_lost(found, Step(((10, 19),), "adopt", PAST, (OWN,)))


def test_it_is_named_once_for_what_of_it_was_lost() -> None:
    told = [Evidence(contact, SINCE, fresh=False) for contact in (A, B)]
    assert rivals(*told) == [Rival(((10, 19),), 9, (B, A), ((10, 19),), 2)]


def test_not_where_it_is_here_or_never_began_or_is_with_a_later_one() -> None:
    told = Evidence(B, SINCE, fresh=False)
    assert rivals(told, taken_in=True) == []
    assert rivals(told, tried=True) == []
    next_of_it = View(B, 3, 12, WHOLE, (), WHOLE)
    with_it = Evidence(B, next_of_it, fresh=False, taken_in=(Ended(A.id, 9, WHOLE),))
    assert [one.epoch for one in rivals(told, with_it)] == [12]


def test_nor_by_a_damaged_journal_nor_by_who_had_no_part_in_it_nor_of_an_earlier_one() -> None:
    assert rivals(Evidence(B, SINCE, fresh=False, damaged=True)) == []
    assert rivals(Evidence(C, SINCE, fresh=False)) == []
    earlier = View(A, 2, 4, WHOLE, (B,), WHOLE)
    assert rivals(Evidence(A, earlier, fresh=False)) == []
    not_lost = View(A, 2, 9, WHOLE, (B,), ((50, 60),))
    assert rivals(Evidence(A, not_lost, fresh=False)) == []
