"""A page is what sorting the whole answer would give: against that, with every order of arrival."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import meteor
from meteor.rest.paging import Page
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, Found
from meteor.wire.record_id import stem_of

PROFILE = pack_profile(meteor.Profile.parse("a=1"))


def match_of(stem: str, version: int, size: int, owner: str = "") -> meteor.Match:
    blob = encode_document(Document("store", PROFILE, b"x" * size))
    return meteor.Match(Found(f"{stem}.r{version % 2}", version, owner, 1000, blob))


OWNERS = ("", "ed25519:anna", "ed25519:bert")
MATCHES = st.lists(
    st.builds(
        match_of, st.sampled_from("abcd"), st.integers(1, 4), st.integers(0, 30),
        st.sampled_from(OWNERS),
    ),
    max_size=30,
)  # fmt: skip


def newest(matches: list[meteor.Match]) -> list[meteor.Match]:
    """One of each stem and owner, by id: of one version the first that came."""
    found: dict[tuple[str, str], meteor.Match] = {}
    for match in matches:
        known = found.get((match.owner, stem_of(match.id)))
        if known is None or match.version > known.version:
            found[match.owner, stem_of(match.id)] = match
    return sorted(found.values(), key=lambda match: (match.id, match.owner))


@given(MATCHES, st.integers(1, 9), st.integers(10, 200))
def test_the_pages_together_are_the_answer_in_order(
    matches: list[meteor.Match], limit: int, bytes_max: int
) -> None:
    read: list[meteor.Match] = []
    after = ""
    while True:
        page = Page(after, limit, bytes_max)
        for match in newest(matches):
            page.add(match)
        assert page.total == len(newest(matches))
        read += page.matches
        if not page.has_more:
            break
        assert 1 <= len(page.matches) <= limit
        after = page.end
    assert read == newest(matches)


@given(MATCHES, st.integers(1, 9))
def test_what_arrives_in_any_order_and_version_counts_once(
    matches: list[meteor.Match], limit: int
) -> None:
    page = Page("", limit)
    for match in matches:
        page.add(match)
    expected = newest(matches)
    assert page.total == len(expected)
    assert page.matches == expected[: len(page.matches)], "nothing before its end is left out"
    assert page.has_more or page.matches == expected


def test_one_match_that_is_too_large_is_a_page_of_its_own() -> None:
    page = Page("", 10, bytes_max=100)
    for match in (match_of("b", 1, 500), match_of("a", 1, 500)):
        page.add(match)
    assert [match.id for match in page.matches] == ["a.r1"]
    assert page.has_more


def test_one_id_that_several_owners_gave_is_lost_at_no_page_s_end() -> None:
    matches = [match_of("door", 1, 5, owner) for owner in OWNERS]
    read: list[str] = []
    after = ""
    for _ in OWNERS:
        page = Page(after, 1)
        for match in reversed(matches):
            page.add(match)
        read += [match.owner for match in page.matches]
        after = page.end
    assert read == list(OWNERS)
    assert not page.has_more
