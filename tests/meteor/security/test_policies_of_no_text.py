"""A policy is text: bytes of a file, or anything else, are refused as a policy."""

from __future__ import annotations

from typing import Any

import pytest

from meteor import parse_policy
from meteor.security.policy_toml import PolicyError


@pytest.mark.parametrize("given", [5, None, b'default = "deny"', ['default = "deny"']])
def test_what_is_no_text_is_no_policy(given: Any) -> None:
    with pytest.raises(PolicyError, match="read from text"):
        parse_policy(given)
