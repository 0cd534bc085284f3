"""A message in JSON: what it says is what is posted, and whatever else comes is a typed refusal."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meteor
from meteor.rest.json_message import message_of_json


def test_every_field_is_read() -> None:
    form = {
        "id": "m1", "action": "retrieve", "profile": "a=1 b>=2", "ttl": 1.5, "data": "zürich",
        "content_type": "text/plain", "owner": "me", "context": {"situation": "emergency"},
    }  # fmt: skip
    message = message_of_json(json.dumps(form).encode())
    assert (message.id, message.action, message.ttl_s) == ("m1", "retrieve", 1.5)
    assert message.profile == meteor.Profile.parse("a=1 b>=2")
    assert message.data == "zürich".encode()
    assert message.context == (("situation", "emergency"),)
    assert message_of_json(b'{"profile":"a=1"}').action == "store"
    assert message_of_json(b'{"profile":"a=1","data_base64":"/w=="}').data == b"\xff"
    assert message_of_json(b'{"profile":"a=1","action":"retrieve(h:1)"}').reply_to == "h:1"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "an object, not list"),
        (b'{"profile":"a=1","tll":3}', "unknown field 'tll'"),
        (b"{}", 'needs a "profile"'),
        (b'{"profile":3}', "profile is text, not int"),
        (b'{"profile":"a=1","ttl":"soon"}', "ttl is a number"),
        (b'{"profile":"a=1","ttl":true}', "ttl is a number"),
        (b'{"profile":"a=1","ttl":NaN}', "no number of JSON"),
        (b'{"profile":"a=1","data":"x","data_base64":"eA=="}', "write one"),
        (b'{"profile":"a=1","data_base64":"!"}', "no base64"),
        (b'{"profile":"a=1","context":[]}', "context is an object"),
        (b'{"profile":"a=1","context":{"a":1}}', "a is text, not int"),
        (b'{"profile":"a=1","data":"\\ud800"}', "surrogate"),
        (b'{"profile":"a=1","visible_to":null}', "visible_to is a list"),
        (b'{"profile":"a=1","context":null}', "context is an object"),
        (b'{"profile":"a=1","ttl":null}', "ttl is a number"),
        (b'{"profile":"\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_cannot_be_read_is_refused(document: bytes, said: str) -> None:
    with pytest.raises(meteor.ProfileError, match=said):
        message_of_json(document)


@pytest.mark.parametrize("ttl", ["-1", "1e999", "1" + "0" * 400])
def test_a_lifetime_is_finite_and_not_negative(ttl: str) -> None:
    with pytest.raises(meteor.MeteorError):
        message_of_json(b'{"profile":"a=1","ttl":%s}' % ttl.encode())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(["id", "action", "profile", "ttl", "data", "data_base64", "context", "x"])


@given(st.dictionaries(FIELDS, JSON_VALUES))
def test_whatever_comes_is_a_message_or_a_typed_error(form: dict[str, Any]) -> None:
    with suppress(meteor.MeteorError):
        message_of_json(json.dumps(form).encode())
