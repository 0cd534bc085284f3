"""The rules of matching, each by its number, in both forms (reference/matching, section 4)."""

from __future__ import annotations

from random import Random

import pytest

from arms import Profile, ProfileError, ProfileIndex, Record, Rendezvous, Return, Store, Tell
from squid import LimitExceeded
from tests.arms.rules import REFUSED, RULES, RULES_IN_XML, RULES_SPACE, Rule


def named(rule: Rule) -> str:
    return f"{rule.number}: {rule.selector} <- {rule.subject}"


def in_xml(children: str) -> bytes:
    return f"<profile>{children}</profile>".encode()


def check(selector: Profile, subject: Profile, expected: bool) -> None:
    """By the trees, and by the index in both roles."""
    assert selector.matches(subject) is expected
    subjects, selectors = ProfileIndex[str](scan_above=0), ProfileIndex[str](scan_above=0)
    subjects.add("it", subject)
    selectors.add("it", selector)
    found = ["it"] if expected else []
    assert subjects.match(selector) == found
    assert selectors.match_subject(subject) == found


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_rule_in_text(rule: Rule) -> None:
    for space in [RULES_SPACE] if rule.declared else [None, RULES_SPACE]:
        selector = Profile.parse(rule.selector, space)
        subject = Profile.parse(rule.subject, space)
        check(selector, subject, rule.expected)


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_rule_through_xml(rule: Rule) -> None:
    space = RULES_SPACE if rule.declared else None
    selector, subject = (
        Profile.from_xml(Profile.parse(text).to_xml(), space)
        for text in (rule.selector, rule.subject)
    )
    check(selector, subject, rule.expected)


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_rule_through_the_wire(rule: Rule) -> None:
    selector, subject = (
        Profile.unpack(Profile.parse(text, RULES_SPACE).pack())
        for text in (rule.selector, rule.subject)
    )
    check(selector, subject, rule.expected)


@pytest.mark.parametrize(("number", "selector", "subject", "expected"), RULES_IN_XML)
def test_rule_in_xml(number: int, selector: str, subject: str, expected: bool) -> None:
    selecting = Profile.from_xml(in_xml(selector), RULES_SPACE)
    selected = Profile.from_xml(in_xml(subject), RULES_SPACE)
    check(selecting, selected, expected)
    assert Profile.from_xml(selecting.to_xml()) == selecting
    assert Profile.parse(str(selecting)) == selecting


@pytest.mark.parametrize(("number", "text"), REFUSED)
def test_rule_refuses(number: int, text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        Profile.parse(text, RULES_SPACE)


def test_every_pair_shares_a_cell() -> None:
    for rule in RULES:
        if not rule.expected:
            continue
        asked = Profile.parse(rule.selector).selector_terms(RULES_SPACE)
        offered = Profile.parse(rule.subject).subject_terms(RULES_SPACE)
        assert RULES_SPACE.box(asked).intersection(RULES_SPACE.box(offered)), named(rule)


def test_rule_2_a_delete_asks_for_containment() -> None:
    selector = Profile.parse("t=20..30")
    assert selector.contains_profile(Profile.parse("t=25..30"))
    assert not selector.contains_profile(Profile.parse("t=25..31"))
    assert selector.matches(Profile.parse("t=25..31"))


def test_rule_27_an_empty_selector_is_refused_in_xml_too() -> None:
    for document in (b"<profile/>", b"<profile><!-- nothing --></profile>"):
        with pytest.raises(ProfileError, match="empty"):
            Profile.from_xml(document)


def test_rule_29_limits() -> None:
    nine = " ".join(f"a{i}=1" for i in range(9))
    Profile.parse(nine)
    with pytest.raises(LimitExceeded, match="max_attributes is 9, at most 8") as refused:
        Profile.parse(nine, RULES_SPACE)
    assert (refused.value.name, refused.value.value, refused.value.limit) == (
        "max_attributes", 9, 8,
    )  # fmt: skip
    with pytest.raises(LimitExceeded, match="maxNumAttributes is 2, at most 1"):
        Profile.from_xml(b'<profile maxNumAttributes="1"><a/><b/></profile>')


def test_rule_30_other_attributes_are_refused() -> None:
    with pytest.raises(ProfileError, match="no attribute 'vlaue'"):
        Profile.from_xml(b'<profile><a vlaue="1"/></profile>')


def test_rule_31_namespaces_are_refused() -> None:
    for document in (
        b'<profile xmlns="urn:x"><a/></profile>',
        b'<profile><x:a xmlns:x="urn:x"/></profile>',
        b'<profile><a xml:lang="en"/></profile>',
    ):
        with pytest.raises(ProfileError):
            Profile.from_xml(document)


# -- rules of the rendezvous


def post(stem: str, action: str, text: str, **fields: object) -> Record:
    kind = {"store": "data", "notify_interest": "watch"}.get(action, "interest")
    record = Record(kind, stem, "", 1, stem, action, Profile.parse(text), b"", 100.0)  # type: ignore[arg-type]
    return Record(**{name: getattr(record, name) for name in Record.__slots__} | fields)  # type: ignore[arg-type]


def test_rule_33_what_has_expired_never_matches_swept_or_not() -> None:
    peer = Rendezvous(Store(), Random(1))
    peer.arrive(post("d", "store", "a=1", expires_s=10.0), 0.0)
    retrieve = post("q", "retrieve", "a=1", expires_s=0.0)
    assert len(peer.arrive(retrieve, 9.999)) == 1
    assert peer.arrive(retrieve, 10.0) == []
    assert len(peer.store) == 1
    peer.expire(10.0)
    assert len(peer.store) == 0


def test_rule_33_without_time_to_live_a_message_matches_and_is_not_stored() -> None:
    peer = Rendezvous(Store(), Random(1))
    interest = post("i", "notify_data", "a=1")
    peer.arrive(interest, 0.0)
    data = post("d", "store", "a=1", expires_s=0.0)
    assert peer.arrive(data, 0.0) == [Tell(interest, data, "match")]
    assert peer.arrive(post("q", "retrieve", "a=1", expires_s=0.0), 0.0) == []


def test_rule_34_matches_come_in_seeded_random_order() -> None:
    def order(seed: int) -> list[str]:
        peer = Rendezvous(Store(), Random(seed))
        for i in range(20):
            peer.arrive(post(f"d{i}", "store", "a=1"), 0.0)
        found = peer.arrive(post("q", "retrieve", "a=1", expires_s=0.0), 0.0)
        return [reaction.record.stem for reaction in found if isinstance(reaction, Return)]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == sorted(f"d{i}" for i in range(20))


def test_rule_34_the_incoming_action_comes_before_those_of_the_matched() -> None:
    for seed in range(20):
        peer = Rendezvous(Store(), Random(seed))
        for i in range(3):
            peer.arrive(post(f"d{i}", "store", "a=1"), 0.0)
            peer.arrive(post(f"w{i}", "notify_interest", "a=1"), 0.0)
        told = peer.arrive(post("i", "notify_data", "a=1"), 0.0)
        kinds = [reaction.kind for reaction in told if isinstance(reaction, Tell)]
        assert kinds == ["match"] * 3 + ["appeared"] * 3


def test_rule_35_a_pair_is_reported_where_it_belongs() -> None:
    peer = Rendezvous(Store(), Random(1))
    peer.arrive(post("i", "notify_data", "a=1..5"), 0.0)
    peer.arrive(post("j", "notify_data", "a=1..5"), 0.0)
    data = post("d", "store", "a=2..9")
    told = peer.arrive(data, 0.0, lambda interest, _: interest.stem == "j")
    assert [reaction.to.stem for reaction in told if isinstance(reaction, Tell)] == ["j"]


def test_rule_36_ones_own_data_matches_ones_own_interest() -> None:
    peer = Rendezvous(Store(), Random(1))
    interest = post("i", "notify_data", "a=1", owner="me")
    data = post("d", "store", "a=1", owner="me")
    peer.arrive(interest, 0.0)
    assert peer.arrive(data, 0.0) == [Tell(interest, data, "match")]


def test_rule_37_a_newer_version_replaces_in_one_step() -> None:
    peer = Rendezvous(Store(), Random(1))
    peer.arrive(post("d", "store", "a=1"), 0.0)
    assert peer.accept(post("d", "store", "a=2", version=2), 0.0).outcome == "stored"
    assert len(peer.store) == 1
    assert peer.arrive(post("q", "retrieve", "a=1", expires_s=0.0), 0.0) == []
    assert len(peer.arrive(post("q", "retrieve", "a=2", expires_s=0.0), 0.0)) == 1
    assert peer.accept(post("d", "store", "a=1"), 0.0).outcome == "older"
