"""Notices put together as they travel: each comes out once, in the order of its interest."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from meteor.wire import codec
from meteor.wire.letters import NOTICES_BYTES, acknowledgements, id_of, letters, notices_of
from meteor.wire.messages import Acknowledge, AcknowledgeAll, Found, Notice
from meteor.wire.operations import Notices

PEER, OTHER = Contact(1, "a:1"), Contact(2, "b:1")
FOUNDS = [
    Found(f"d{number}.aa", 1, "o" * (number % 2), 5, bytes(size))
    for number, size in enumerate([0, 10, 10, NOTICES_BYTES // 2, NOTICES_BYTES + 1])
]


def notice(interest: str, owner: str, found: Found, kind: str) -> Notice:
    stem = found.id.partition(".")[0]
    id = id_of(interest, found.owner, stem, found.version, kind)
    return Notice(id, interest, kind, found, PEER, owner)


notices = st.lists(
    st.builds(
        notice,
        st.sampled_from(["i", "j", "k"]),
        st.sampled_from(["", "me"]),
        st.sampled_from(FOUNDS),
        st.sampled_from(["match", "appeared", "gone"]),
    ),
    unique_by=lambda one: (one.owner, one.id),
)


def opened(letter: Notices) -> list[Notice]:
    assert not (letter.notices and letter.told)
    return [*letter.notices, *(one for told in letter.told for one in notices_of(told))]


@given(notices)
def test_nothing_is_lost_and_nothing_overtakes(due: list[Notice]) -> None:
    sent = list(letters(7, due))
    came = [one for letter in sent for one in opened(codec.decode(codec.encode(letter)))]
    assert {letter.client for letter in sent} <= {7}
    by_interest: dict[tuple[str, str], list[Notice]] = defaultdict(list)
    for one in came:
        by_interest[one.owner, one.interest].append(one)
    expected: dict[tuple[str, str], list[Notice]] = defaultdict(list)
    for one in due:
        expected[one.owner, one.interest].append(one)
    assert by_interest == expected


@given(notices)
def test_a_letter_can_travel(due: list[Notice]) -> None:
    for letter in letters(7, due):
        groups = [told.found for told in letter.told] or [one.found for one in letter.notices]
        size = sum(len(found.blob) for found in groups)
        assert size <= NOTICES_BYTES or len(groups) == 1


def test_what_one_record_is_to_many_travels_once() -> None:
    due = [notice(f"i{n}", "", found, "match") for n in range(10) for found in FOUNDS[:3]]
    (letter,) = letters(7, due)
    assert [len(told.to) for told in letter.told] == [10, 10, 10]


def test_one_notice_stays_one() -> None:
    due = [notice("i", "", found, "match") for found in FOUNDS[:3]]
    (letter,) = letters(7, due)
    assert list(letter.notices) == due


@given(
    st.dictionaries(
        st.sampled_from([PEER, OTHER]),
        st.dictionaries(
            st.tuples(st.sampled_from(["", "me"]), st.text("ij", min_size=1, max_size=3)),
            st.lists(st.text(max_size=3), min_size=1, max_size=7),
            min_size=1,
        ),
    )
)
def test_all_that_arrived_is_acknowledged_to_its_source(
    received: dict[Contact, dict[tuple[str, str], list[str]]],
) -> None:
    told: dict[Contact, dict[tuple[str, str], list[str]]] = {}
    for message in acknowledgements(received, 3):
        parts = message.arrived if isinstance(message, AcknowledgeAll) else [message]
        assert isinstance(message, Acknowledge) or len(parts) > 1
        for part in parts:
            assert len(part.ids) <= 3
            of_source = told.setdefault(message.source, {})
            of_source.setdefault((part.owner, part.interest), []).extend(part.ids)
    assert told == received
