"""Policies: decisions against a dumb twin, files that are read strictly, and reloading."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meteor import KeywordSpace, Number, Policy, PolicyError, Profile, TypeMismatch, Word
from meteor.security.deciding import Decider, made_ready, taken_apart
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy import OPEN, Request, Rule, named_keys
from meteor.security.policy_file import PolicyFile, reload_policy
from meteor.security.policy_toml import parse_policy
from tests.meteor.security.signers import ALICE, BOB, CAROL

T = TypeVar("T")
SPACE = KeywordSpace("rules", [Word("type"), Number("temperature", -40, 125)])
WIDE = KeywordSpace("rules", [Word("type")], max_attributes=64)

FULL = f"""
default = "deny"
reply_addresses = ["10.0.0.5:8000", "*.example.org:*", "192.168.0.0/16:80", "[::1]:9"]

[groups]
fire = ["{ALICE.key}"]

[[rules]]
name = "no secrets"
effect = "deny"
who = ["anyone"]
selector = "type=secret"

[[rules]]
name = "sensors"
who = ["group:fire"]
actions = ["store"]
selector = "type=lamp temperature=0..50"

[[rules]]
name = "in an emergency"
who = ["signed"]
actions = ["retrieve", "notify_data"]
when = {{ situation = ["emergency", "drill"], floor = "2" }}

[[rules]]
name = "lookers"
who = ["unsigned"]
actions = ["retrieve"]
selector = "type=lamp"

[[quotas]]
name = "few"
who = ["group:fire"]
profiles = 3
bytes = 1000
interests = 2
posts_per_second = 1.5
"""


def request(key: str, action: str, selector: str, **context: str) -> Request:
    is_subject = action in {"store", "notify_interest"}
    return Request(key, action, Profile.parse(selector, SPACE), is_subject, context)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return parse_policy(FULL).typed(SPACE)


A, B = ALICE.key, BOB.key


@pytest.mark.parametrize(
    ("asked", "allows", "rule"),
    [
        (request(A, "store", "type=lamp temperature=20"), True, "sensors"),
        (request(A, "store", "type=lamp temperature=60"), False, "default"),
        (request(A, "store", "type=lamp temperature=40..60"), False, "default"),
        (request(A, "store", "type=lamp"), False, "default"),
        (request(B, "store", "type=lamp temperature=20"), False, "default"),
        (request("", "store", "type=lamp temperature=20"), False, "default"),
        (request(A, "store", "type=secret"), False, "no secrets"),
        (request("", "retrieve", "type=lamp"), True, "lookers"),
        (request("", "retrieve", "type=lamp temperature>9"), True, "lookers"),
        (request("", "retrieve", "type=l*"), False, "default"),
        (request("", "retrieve", "type=s*"), False, "no secrets"),
        (request("", "retrieve", "temperature>9"), False, "no secrets"),
        (request("", "retrieve", "type=lamp | type=secret"), False, "no secrets"),
        (request(B, "retrieve", "type=a"), False, "default"),
        (request(B, "retrieve", "type=a", situation="drill", floor="2"), True, "in an emergency"),
        (request(B, "retrieve", "type=a", situation="drill"), False, "default"),
        (request(B, "retrieve", "type=a", situation="calm", floor="2"), False, "default"),
        (request("", "retrieve", "type=a", situation="drill", floor="2"), False, "default"),
        (Request(A, "renew"), True, "sensors"),
        (Request("", "cancel"), True, "lookers"),
    ],
)
def test_the_first_rule_that_speaks_decides(
    policy: Policy, asked: Request, allows: bool, rule: str
) -> None:
    verdict = policy.decide(asked)
    assert (verdict.allows, verdict.rule) == (allows, rule)


def test_without_a_file_everything_is_allowed() -> None:
    assert OPEN.decide(request("", "delete_data", "type=*")).allows
    assert OPEN.quota_of("") is None
    assert not OPEN.may_contact("127.0.0.1:80")


def test_ids_are_denied_by_rules_that_name_them_or_everything() -> None:
    deny = Rule("no", False, ("unsigned",))
    yes = Rule("yes", True, ("anyone",), frozenset({"store"}))
    assert not Policy(rules=(deny, yes)).decide(Request("", "cancel")).allows
    assert Policy(rules=(deny, yes)).decide(Request(A, "cancel")).allows
    some = Rule("some", False, ("anyone",), frozenset({"retrieve"}))
    assert Policy(False, rules=(some, yes)).decide(Request("", "cancel")).rule == "yes"
    named = Rule("named", False, ("anyone",), frozenset({"cancel"}))
    assert Policy(rules=(named,)).decide(Request(A, "cancel")).rule == "named"
    assert Policy(rules=(named,)).decide(Request(A, "renew")).allows


VALUES = st.integers(0, 9)
KEYS = st.sampled_from(["", A, B])


@st.composite
def drawn_rules(draw: st.DrawFn) -> list[tuple[bool, frozenset[str], frozenset[str], int, int]]:
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        low, high = sorted((draw(VALUES), draw(VALUES)))
        rules.append(
            (
                draw(st.booleans()),
                draw(st.frozensets(st.sampled_from(["anyone", "signed", "unsigned", A]))),
                draw(st.frozensets(st.sampled_from(["store", "retrieve"]))),
                low,
                high,
            )
        )
    return rules


@given(drawn_rules(), st.booleans(), KEYS, st.booleans(), VALUES, VALUES)
def test_rules_against_a_plain_filter(
    drawn: list[tuple[bool, frozenset[str], frozenset[str], int, int]],
    default: bool,
    key: str,
    stores: bool,
    one: int,
    other: int,
) -> None:
    """The twin enumerates the whole numbers that a range holds."""
    rules = tuple(
        Rule(
            str(at), allows, tuple(sorted(who)), actions,
            Profile.parse(f"temperature={low}..{high}", SPACE),
        )
        for at, (allows, who, actions, low, high) in enumerate(drawn)
    )  # fmt: skip
    low, high = sorted((one, other))
    action = "store" if stores else "retrieve"
    expected = default
    for allows, who, actions, rule_low, rule_high in drawn:
        words = {"anyone", "signed" if key else "unsigned", key}
        asked, spoken = set(range(low, high + 1)), set(range(rule_low, rule_high + 1))
        about = asked <= spoken if allows else bool(asked & spoken)
        if words & who and (not actions or action in actions) and about:
            expected = allows
            break
    asked_ = request(key, action, f"temperature={low}..{high}")
    assert Policy(default, rules).decide(asked_).allows == expected


@pytest.mark.parametrize(
    "text",
    [
        "type=lamp type=fire temperature=10",
        "(type=lamp temperature=10) (type=fire temperature=99)",
        "type=lamp temperature=10 temperature=90",
    ],
)
def test_who_may_post_here_posts_nothing_that_is_found_elsewhere(text: str) -> None:
    """Content that says two things of one place is found by both; allowed was only one."""
    lamps = Rule(
        "lamps", True, ("anyone",), frozenset({"store", "notify_interest"}),
        Profile.parse("type=lamp temperature=0..30", SPACE),
    )  # fmt: skip
    policy = Policy(False, (lamps,))
    for action in ("store", "notify_interest"):
        asked = Request(A, action, Profile.parse(text, SPACE), is_subject=True)
        assert not policy.decide(asked).allows
        assert not Decider(policy).decide(asked).allows
    plain = Request(A, "store", Profile.parse("type=lamp temperature=9", SPACE), is_subject=True)
    assert policy.decide(plain).allows


def test_a_deny_needs_no_more_than_a_doubt() -> None:
    """What two selectors exclude for sure is only what their plain elements say."""
    secret = Profile.parse("type=secret", SPACE)
    for text, meets in [
        ("type=lamp", False), ("type=secret temperature>9", True), ("temperature>9", True),
        ("type=s*", True), ("type=lamp | temperature>9", True), ("room(type=lamp)", True),
        ("//type=lamp", True), ("type=lamp type=secret", True),
    ]:  # fmt: skip
        selector = Profile.parse(text, SPACE)
        assert secret.may_meet(selector) == meets, text
        assert selector.may_meet(secret) == meets, text
    nested = Profile.parse("room(floor=1 zone=a)", SPACE)
    assert not nested.may_meet(Profile.parse("room(floor=2)", SPACE))
    assert nested.may_meet(Profile.parse("room(wing=2)", SPACE))


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("10.0.0.5:8000", True), ("10.0.0.5:8001", False), ("10.0.0.50:8000", False),
        ("a.example.org:1", True), ("example.org:1", False), ("example.org.evil.net:1", False),
        ("A.EXAMPLE.ORG:1", True), ("192.168.3.4:80", True), ("192.168.3.4:81", False),
        ("192.168.evil.net:80", False), ("[::1]:9", True), ("::1:9", False), ("", False),
        (":80", False), ("evil.net/#.example.org:80", False), ("u@a.example.org:80", False),
        ("a.example.org:80/x", False), ("a.example.org:", False), ("localhost", False),
        ("[::ffff:192.168.3.4]:80", True), ("[::ffff:10.0.0.6]:8000", False),
    ],
)  # fmt: skip
def test_reply_addresses(policy: Policy, address: str, may: bool) -> None:
    assert policy.may_contact(address) == may


def test_whom_a_policy_names_by_himself(policy: Policy) -> None:
    assert named_keys(policy) == {ALICE.key}
    by_key = parse_policy(
        f'default = "deny"\n[[rules]]\nname = "a"\nwho = ["signed", "{BOB.key}"]\n'
        f'[[quotas]]\nname = "b"\nwho = ["anyone", "{CAROL.key}"]\nprofiles = 1'
    )
    assert named_keys(by_key) == {BOB.key, CAROL.key}
    assert not named_keys(OPEN)


def test_an_ipv4_address_within_ipv6_is_the_one_that_it_reaches() -> None:
    every = parse_policy('default = "allow"\nreply_addresses = ["[::]/0:*"]')
    assert every.may_contact("[2001:db8::1]:80")
    assert not every.may_contact("[::ffff:127.0.0.1]:80")


def test_quotas_go_by_the_first_that_speaks(policy: Policy) -> None:
    quota = policy.quota_of(A)
    assert quota is not None
    assert (quota.profiles, quota.bytes, quota.interests) == (3, 1000, 2)
    assert quota.posts_per_second == 1.5
    assert policy.quota_of(B) is None


RULE = '[[rules]]\nname = "r"\nwho = ["anyone"]\n'
QUOTA = '[[quotas]]\nname = "q"\nwho = ["anyone"]\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", 'default = None: say "allow" or "deny"'),
        ('default = "maybe"', "maybe"),
        ("default = []", "default = []"),
        ("default = ", "TOML"),
        ('default = "deny"\nrule = 1', "did you mean 'rules'"),
        ('default = "deny"\n[rules]\nname = "x"', "[[rules]]"),
        ('default = "deny"\n[[rules]]\nwho = ["anyone"]', "needs a name"),
        ('default = "deny"\n[[rules]]\nname = "r"', "say who is meant"),
        ('default = "deny"\n[[rules]]\nname = "default"\nwho = ["anyone"]', "another name"),
        (f'default = "deny"\n{RULE}{RULE}', "names two"),
        (f'default = "deny"\n{RULE}actionz = ["store"]', "did you mean 'actions'"),
        (f'default = "deny"\n{RULE}actions = []', "no action"),
        (f'default = "deny"\n{RULE}actions = "store"', "list of texts"),
        (f'default = "deny"\n{RULE}effect = "block"', "neither"),
        (f'default = "deny"\n{RULE}effect = {{}}', "neither"),
        (f'default = "deny"\n{RULE}selector = "a="', "rule 'r'"),
        (f'default = "deny"\n{RULE}selector = 3', "is text"),
        (f'default = "deny"\n{RULE}actions = ["renew"]\nselector = "a=1"', "name an id"),
        (f'default = "deny"\n{RULE}when = "now"', "table"),
        (f'default = "deny"\n{RULE}when = {{ a = 1 }}', "list of texts"),
        ('default = "deny"\n[[rules]]\nname = "r"\nwho = ["somebody"]', "no key"),
        ('default = "deny"\n[groups]\nfire = []\n'
         '[[rules]]\nname = "r"\nwho = ["group:fier"]', "did you mean 'fire'"),
        ('default = "deny"\n[groups]\n"a b" = []', "names no group"),
        ('default = "deny"\n[groups]\na = ["ed25519:x"]', "groups.a"),
        ('default = "deny"\n[[quotas]]\nname = "q"\nwho = ["anyone"]\nbytes = -1', "bytes = -1"),
        ('default = "deny"\n[[quotas]]\nname = "q"\nwho = ["anyone"]\nbytes = true', "True"),
        ('default = "deny"\n[[quotas]]\nname = "q"\nwho = ["anyone"]\nposts_per_second = 0', "0"),
        (f'default = "deny"\n{QUOTA}posts_per_second = {"9" * 400}', "no number above 0"),
        (f'default = "deny"\n{QUOTA}bytes = {"9" * 5000}', "TOML"),
        ('default = "deny"\nreply_addresses = ["a"]', "host:port"),
        ('default = "deny"\nreply_addresses = ["a*b:1"]', "star"),
        ('default = "deny"\nreply_addresses = ["10.0.0.1/8:1"]', "host bits"),
    ],
)  # fmt: skip
def test_a_slip_of_the_pen_is_said(text: str, says: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    assert says in str(refused.value)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(text)


# -- the file


async def at_once(work: Callable[[], T]) -> T:
    return work()


async def test_a_file_is_read_again_and_a_bad_one_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('default = "allow"')
    file, gatekeeper = PolicyFile(path), Gatekeeper(SPACE, lambda: 0.0)
    await reload_policy(file, gatekeeper, at_once)
    assert gatekeeper.is_open
    assert not file.has_changed()
    path.write_text('default = "deny"  ')
    assert file.has_changed()
    await reload_policy(file, gatekeeper, at_once)
    denying = gatekeeper.policy
    assert not denying.allows_by_default
    for bad in ("rubbish", f'default = "allow"\n{RULE}selector = "temperature=warm"'):
        path.write_text(bad)
        with pytest.raises(PolicyError, match=r"policy\.toml"):
            await reload_policy(file, gatekeeper, at_once)
        assert gatekeeper.policy is denying
        assert not file.has_changed()  # it is said once
    path.unlink()
    assert file.has_changed()
    with pytest.raises(PolicyError, match="No such file"):
        await reload_policy(file, gatekeeper, at_once)
    assert not file.has_changed()  # it is said once
    other = tmp_path / "new.toml"
    other.write_text('default = "allow"')
    os.replace(other, path)
    assert file.has_changed()


async def test_of_two_readings_the_one_that_began_later_holds(tmp_path: Path) -> None:
    """They are done aside, and which is over first nobody knows."""
    path = tmp_path / "policy.toml"
    path.write_text('default = "allow"')
    file, gatekeeper = PolicyFile(path), Gatekeeper(SPACE, lambda: 0.0)
    overtaken = False

    async def slowly(work: Callable[[], T]) -> T:
        nonlocal overtaken
        done = work()
        if not overtaken:
            overtaken = True
            path.write_text('default = "deny"')
            await reload_policy(file, gatekeeper, at_once)
        return done

    await reload_policy(file, gatekeeper, slowly)
    assert not gatekeeper.policy.allows_by_default
    assert not file.has_changed()


def test_what_a_policy_was_made_of_is_given_back_piece_by_piece() -> None:
    """Python frees in one step whatever is let go of in one, and no thread runs meanwhile."""
    rules = [
        f'[[rules]]\nname = "{at}"\nwho = ["anyone"]\nselector = "{terms}"'
        for at in range(40)
        for terms in [" | ".join(f"kind=a{at}x{term}" for term in range(60))]
    ]
    done_with = [made_ready(parse_policy('default = "deny"\n' + "\n".join(rules)), WIDE)]
    all_of_it = sys.getallocatedblocks()
    before = all_of_it
    freed = [before - (before := sys.getallocatedblocks()) for _ in taken_apart(done_with)]
    all_of_it -= sys.getallocatedblocks()
    assert max(freed) < 1000, "the elements of one rule, at most"
    assert sum(freed) > 0.9 * all_of_it > 8_000


def test_a_selector_must_fit_the_space() -> None:
    policy = parse_policy(f'default = "deny"\n{RULE}selector = "temperature=warm"')
    with pytest.raises(TypeMismatch):
        Gatekeeper(SPACE, lambda: 0.0, policy)
    assert CAROL.key not in FULL
