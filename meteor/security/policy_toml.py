"""A policy as TOML: read strictly, so that a slip of the pen denies with a message, never silently.

Law of this file: pure; text in, `Policy` or `PolicyError` out.  What is not known is refused by
name, and every rule and quota has a name of its own, as refusals speak of it (docs/security.md has
the reference).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from ipaddress import ip_network
from typing import Any, Final

from arms import Profile
from meteor.errors import MeteorError
from meteor.security.audience import WORDS, check_group, check_name
from meteor.security.keys import key_bytes
from meteor.security.policy import BY_ID, COST, DEFAULT, REPLY_ADDRESSES, Policy, Quota, Rule

POLICY_BYTES_MAX: Final = 1_000_000
_RULES_MAX: Final = 1000
_RESERVED: Final = (
    DEFAULT, COST, REPLY_ADDRESSES, "signature", "issue_time", "delegation", "identity",
)  # fmt: skip
_EFFECTS: Final = {"allow": True, "deny": False}


class PolicyError(MeteorError, ValueError):
    """A policy cannot be read: the text says where and why."""


def parse_policy(text: str) -> Policy:
    """The policy of a file's text; raises `PolicyError`."""
    if not isinstance(text, str):
        raise PolicyError(f"a policy is read from text, not from {type(text).__name__}")
    if len(text) > POLICY_BYTES_MAX:
        raise PolicyError(f"a policy of {len(text)} characters is longer than {POLICY_BYTES_MAX}")
    try:
        form = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5000 digits is a bare `ValueError`
        raise PolicyError(f"this is no TOML: {error}") from error
    _check_names("the policy", form, ("default", "groups", "rules", "quotas", "reply_addresses"))
    if not _is_effect(form.get("default")):
        raise PolicyError(
            f'default = {form.get("default")!r}: say "allow" or "deny", which is what happens '
            "where no rule speaks"
        )
    groups = {name: _group(name, keys) for name, keys in _table("groups", form).items()}
    rules = tuple(_rule(one, groups) for one in _tables("rules", form))
    quotas = tuple(_quota(one, groups) for one in _tables("quotas", form))
    _check_unique([rule.name for rule in rules] + [quota.name for quota in quotas])
    return Policy(
        allows_by_default=_EFFECTS[form["default"]],
        rules=rules,
        quotas=quotas,
        groups=groups,
        reply_addresses=tuple(map(_pattern, _texts("reply_addresses", form, "reply_addresses"))),
    )


# -- its parts


def _group(name: str, keys: Any) -> frozenset[str]:
    where = f"groups.{name}"
    _said(where, partial(check_group, name))
    return frozenset(_checked_keys(where, keys))


def _checked_keys(where: str, keys: Any) -> list[str]:
    names = _texts(where, {where: keys}, where)
    for key in names:
        _said(where, partial(key_bytes, key))
    return names


def _rule(form: Mapping[str, Any], groups: Mapping[str, object]) -> Rule:
    name = _name("rules", form)
    where = f"rule {name!r}"
    _check_names(where, form, ("name", "effect", "who", "actions", "selector", "when"))
    effect = form.get("effect", "allow")
    if not _is_effect(effect):
        raise PolicyError(f'{where}: effect = {effect!r} is neither "allow" nor "deny"')
    actions = frozenset(_texts(where, form, "actions"))
    if "actions" in form and not actions:
        raise PolicyError(f"{where}: actions = [] is no action; leave it out for every action")
    selector = form.get("selector")
    if selector is not None and not isinstance(selector, str):
        raise PolicyError(f'{where}: selector is text, such as "type=lamp"')
    if selector is not None and actions and actions <= BY_ID:
        raise PolicyError(f"{where}: {', '.join(sorted(actions))} name an id; leave out selector")
    return Rule(
        name=name,
        allows=_EFFECTS[effect],
        who=_who(where, form, groups),
        actions=actions,
        selector=None if selector is None else _said(where, lambda: Profile.parse(selector)),
        when=tuple(
            (name, frozenset([values] if isinstance(values, str) else _texts(where, when, name)))
            for when in [_table("when", form)]
            for name, values in when.items()
        ),
    )


def _quota(form: Mapping[str, Any], groups: Mapping[str, object]) -> Quota:
    name = _name("quotas", form)
    where = f"quota {name!r}"
    counts = ("profiles", "bytes", "interests")
    _check_names(where, form, ("name", "who", *counts, "posts_per_second"))
    for count in counts:
        value = form.get(count, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise PolicyError(f"{where}: {count} = {value!r} is no number from 0 on")
    rate = form.get("posts_per_second")
    if rate is not None and not _is_rate(rate):
        raise PolicyError(f"{where}: posts_per_second = {rate!r} is no number above 0")
    return Quota(
        name=name,
        who=_who(where, form, groups),
        profiles=form.get("profiles"),
        bytes=form.get("bytes"),
        interests=form.get("interests"),
        posts_per_second=None if rate is None else float(rate),
    )


def _is_effect(value: object) -> bool:
    """Whether it is one of the two words; a list, which TOML may have there, cannot be hashed."""
    return isinstance(value, str) and value in _EFFECTS


def _is_rate(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and value > 0
    except OverflowError:  # a whole number beyond all floats
        return False


def _who(where: str, form: Mapping[str, Any], groups: Mapping[str, object]) -> tuple[str, ...]:
    names = tuple(_texts(where, form, "who"))
    if not names:
        raise PolicyError(f'{where}: say who is meant: keys, "group:<name>", or {", ".join(WORDS)}')
    for name in names:
        if name in WORDS:
            continue
        _said(where, partial(check_name, name))
        group = name.removeprefix("group:")
        if name.startswith("group:") and group not in groups:
            raise PolicyError(f"{where}: there is no group {group!r}{_near(group, groups)}")
    return names


def _pattern(text: str) -> str:
    """A pattern of reply addresses: a slip would contact nobody, or somebody else."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and (port == "*" or (port.isascii() and port.isdigit()))):
        raise PolicyError(
            f"reply_addresses: {text!r} is neither host:port, *.name:port nor network/bits:port; "
            "the port may be *"
        )
    if "/" in host:
        _said("reply_addresses", lambda: ip_network(host.replace("[", "").replace("]", "")))
    elif "*" in host.removeprefix("*."):
        raise PolicyError(f"reply_addresses: {text!r}: a star stands for the first labels only")
    return text


# -- forms


def _name(kind: str, form: Mapping[str, Any]) -> str:
    name = form.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= 64 or not name.isprintable():
        raise PolicyError(f"{kind}: every one needs a name of 1 to 64 characters, not {name!r}")
    if name in _RESERVED:
        raise PolicyError(f"{kind}: {name!r} names what needs no rule; choose another name")
    return name


def _check_unique(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PolicyError(f"{twice[0]!r} names two of the rules and quotas; refusals name them")


def _check_names(where: str, form: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in form:
        if name not in known:
            raise PolicyError(
                f"{where}: {name!r} is not known{_near(name, known)}; known are {', '.join(known)}"
            )


def _near(name: str, known: Any) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _table(name: str, form: Mapping[str, Any]) -> Mapping[str, Any]:
    table = form.get(name, {})
    if not isinstance(table, dict):
        raise PolicyError(f"{name} is a table of names and values")
    return table


def _tables(name: str, form: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tables = form.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise PolicyError(f"{name} are written as [[{name}]], one after the other")
    if len(tables) > _RULES_MAX:
        raise PolicyError(f"{len(tables)} {name} are more than {_RULES_MAX}")
    return tables


def _texts(where: str, form: Mapping[str, Any], name: str) -> list[str]:
    texts = form.get(name, [])
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise PolicyError(f"{where}: {name} is a list of texts, not {texts!r:.80}")
    return texts


def _said(where: str, make: Callable[[], Any]) -> Any:
    """What `make` gives; what it raises becomes a `PolicyError` that says where."""
    try:
        return make()
    except (MeteorError, ValueError) as error:
        raise PolicyError(f"{where}: {error}") from error
