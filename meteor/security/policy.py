"""A policy: who may do what with which content in which situation, how much, and telling whom.

Law of this file: pure decisions over values.  Rules are looked at in their order and the first that
speaks of a request decides; `default` does where none speaks.  A rule that allows speaks of what
lies wholly within its selector, one that denies of all that meets it: doubt denies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from arms import DATA, Kind, Profile
from meteor.described import described
from meteor.security.audience import GROUP_PREFIX, WORDS, Groups, includes
from squid import KeywordSpace

DEFAULT: Final = "default"
"""The name under which a policy's default refuses."""
COST: Final = "cost"
"""The name under which is refused what takes too long to tell of."""
REPLY_ADDRESSES: Final = "reply_addresses"
"""The name under which a reply address is refused."""

BY_ID: Final = frozenset({"renew", "cancel", "find"})
"""What names an id instead of a profile: whose it is decides, and no selector can."""

FORGET: Final = "forget"
"""Declaring the past of a lost arc gone: for who operates the ring, so that a rule which allows
something else allows it not."""


_ADDRESS: Final = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
"""Of nothing else than a host and a port: what is contacted is what was looked at."""


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody wants to do."""

    key: str
    """The signer's; empty for nobody's."""
    action: str
    profile: Profile | None = None
    """None for what names an id."""
    is_subject: bool = False
    """Whether the profile describes content, or selects it."""
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; what it leaves out does not matter to it."""

    name: str
    allows: bool
    who: tuple[str, ...]
    actions: frozenset[str] = frozenset()
    """Empty: every action."""
    selector: Profile | None = None
    when: tuple[tuple[str, frozenset[str]], ...] = ()
    """What the post's context must say: a name, and the values of which it has one."""

    def speaks_of(self, request: Request, groups: Groups) -> bool:
        """Whether this rule decides about the request."""
        if not includes(self.who, request.key, groups):
            return False
        if request.profile is None:
            return self.speaks_of_id(request.action)
        return self.speaks_of_post(request) and self._speaks_of_profile(
            request.profile, request.is_subject
        )

    def speaks_of_post(self, request: Request) -> bool:
        """Whether it decides about this action in this context, if about who asks and what."""
        return (not self.actions or request.action in self.actions) and all(
            request.context.get(name) in values for name, values in self.when
        )

    def speaks_of_id(self, action: str) -> bool:
        """Whoever may post at all may do with what is his own: a rule that allows anything allows
        that too, and only one that names it, or speaks of everything, denies it."""
        if action in self.actions:
            return True
        unconditional = not (self.actions or self.selector or self.when)
        return (self.allows and action in BY_ID) or unconditional

    def _speaks_of_profile(self, profile: Profile, is_subject: bool) -> bool:
        if self.selector is None:
            return True
        if self.allows and is_subject:
            return profile.keeps_to(self.selector)
        if self.allows:
            return self.selector.contains_profile(profile, as_selector=True)
        return self.selector.matches(profile) if is_subject else self.selector.may_meet(profile)


@dataclass(frozen=True, slots=True)
class Quota:
    """How much one identity may have, by way of one entry peer; None: without limit."""

    name: str
    who: tuple[str, ...]
    profiles: int | None = None
    """Data that lives at once."""
    bytes: int | None = None
    """Of its documents, interests included."""
    interests: int | None = None
    """Interests, watches and standing retrieves that live at once."""
    posts_per_second: float | None = None
    """Of every kind, renewals included; a second's worth may come at once."""

    def counts(self, kind: Kind) -> bool:
        """Whether a record of this kind is to be remembered for it."""
        return self.bytes is not None or (
            self.profiles is not None if kind == DATA else self.interests is not None
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy says, and by which rule."""

    allows: bool
    rule: str


@described
@dataclass(frozen=True, slots=True)
class Policy:
    """All that one peer was told; made by `meteor.security.policy_toml`."""

    allows_by_default: bool = True
    """What holds where no rule speaks."""
    rules: tuple[Rule, ...] = ()
    """In order: the first that speaks of a request decides."""
    quotas: tuple[Quota, ...] = ()
    """In order: the first that speaks of a key is its own."""
    groups: Groups = field(default_factory=dict)
    """The keys that a name stands for."""
    reply_addresses: tuple[str, ...] = ()
    """Where results and notifications may be sent, as `host:port`."""

    def decide(self, request: Request) -> Verdict:
        """Whether the request is allowed: one rule after the other is asked, however long that
        takes.  A peer decides by `meteor.security.deciding`, which says the same or refuses."""
        for rule in self.rules:
            if rule.speaks_of(request, self.groups):
                return Verdict(rule.allows, rule.name)
        return Verdict(self.allows_by_default, DEFAULT)

    def quota_of(self, key: str) -> Quota | None:
        """The first quota that speaks of a key; None when none does."""
        return next((q for q in self.quotas if includes(q.who, key, self.groups)), None)

    def may_contact(self, address: str) -> bool:
        """Whether a result may be sent to this `host:port`."""
        if _ADDRESS.fullmatch(address) is None:
            return False
        host, _, port = address.rpartition(":")
        return any(_is_meant(pattern, host, port) for pattern in self.reply_addresses)

    def typed(self, space: KeywordSpace) -> Policy:
        """The same with its selectors in the terms of a space; raises `TypeMismatch` and
        `LimitExceeded`."""
        rules = tuple(
            rule if rule.selector is None else replace(rule, selector=rule.selector.typed(space))
            for rule in self.rules
        )
        return replace(self, rules=rules)


OPEN: Final = Policy()
"""Without a file: everybody may everything, whether signed or not."""


def named_keys(policy: Policy) -> frozenset[str]:
    """The keys that a group, a rule or a quota speaks of by themselves."""
    names = {name for rule in policy.rules for name in rule.who}
    names |= {name for quota in policy.quotas for name in quota.who}
    words = {*WORDS, *(name for name in names if name.startswith(GROUP_PREFIX))}
    return frozenset(names - words).union(*policy.groups.values())


def _is_meant(pattern: str, host: str, port: str) -> bool:
    """Whether a pattern (`host:port`, `*.name:port`, `network/bits:port`, port also `*`) means an
    address.  A name is never looked up: it could be somebody else's tomorrow."""
    wanted, _, wanted_port = pattern.rpartition(":")
    if wanted_port not in ("*", port) or not host:
        return False
    if wanted.startswith("*."):
        return host.lower().endswith(wanted[1:].lower())
    if "/" not in wanted:
        return wanted.lower() == host.lower()
    try:
        network = ip_network(wanted.replace("[", "").replace("]", ""))
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped  # which is whom it reaches
    return address in network
