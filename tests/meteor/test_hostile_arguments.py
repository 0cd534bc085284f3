"""Whatever an argument is, it is taken for what it says or refused in words that name it, and
before anything is sent: every verb, every parameter, a table of values that nobody should give.

A refusal is a `MeteorError`, or a `ValueError` or `TypeError` that says the parameter: one from
deep inside knows no parameters."""

from __future__ import annotations

import inspect
from typing import Any, Final

import numpy as np
import pytest

import meteor
from meteor.admission import (
    CONTENT_TYPE_LENGTH_MAX,
    CONTEXT_LENGTH_MAX,
    check_document,
    read_document,
)
from meteor.lifetimes import checked_timeout_s, checked_ttl_s
from meteor.sync.methods import VERBS as BOTH_SIDES
from meteor.wire.document import encode_document
from meteor.wire.messages import Document
from tests.meteor.fake_peer import FakeOverlay
from tests.meteor.hostile_values import Named, check

PROFILE: Final = "type=lamp temperature=20"


NUMBERS: Final = {
    "one", "whole", "numpy's float", "numpy's short float", "numpy's integer", "fraction",
}  # fmt: skip
BYTES: Final = {"no bytes", "bytes"}
TEXTS: Final = {"no text", "text", "two lines", "member", "numpy's text"}
JSON: Final = TEXTS | {
    "none", "true", "minus one", "zero", "one", "larger than a float", "smaller than a float",
    "list", "list of a number", "mapping", "whole", "numpy's float",
}  # fmt: skip
IDS: Final = {"text", "member", "numpy's text"}
WHOLE: Final = {
    "one", "whole", "numpy's integer", "larger than a float", "more digits than Python writes",
}  # fmt: skip
ITERABLE: Final = {"list", "list of a number", "mapping", "mapping of half a character", "array"}
"""What gives messages one after the other, or says of each that it is none."""
FLAGS: Final = (
    "allow_partial", "everywhere", "dry_run", "once", "with_data", "keep_alive", "return_errors",
)  # fmt: skip
VERBS: Final[dict[str, tuple[Any, ...]]] = {
    "post": (PROFILE,),
    "store": (PROFILE,),
    "retrieve": (PROFILE,),
    "perform": ("average", PROFILE),
    "notify_data": (PROFILE,),
    "notify_interest": (PROFILE,),
    "attach": ("id",),
    "delete_data": (PROFILE,),
    "delete_interest": (PROFILE,),
    "renew": ("id",),
    "cancel": ("id",),
    "replace": ("id", PROFILE),
    "ring": (),
    "forget": (),
    "post_many": ([],),
}
TAKEN: Final[dict[str, set[str]]] = {
    "timeout": NUMBERS,
    "ttl": NUMBERS | {"zero", "none"},
    "action": IDS,
    "data": BYTES | TEXTS,
    "json": JSON,
    "content_type": TEXTS | {"none"},
    "context": {"none", "mapping"},
    "id": IDS | {"none"},
    "profile": set(),
    "queue": WHOLE,
    "overflow": set(),
    "handler": {"none", "function"},
    "mode": set(),
    "concurrency": WHOLE - {"larger than a float", "more digits than Python writes"},
    "messages": ITERABLE,
    "lost": set(),
    "visible_to": {"none", "list"},
} | {flag: {"true", "numpy's truth"} for flag in FLAGS}
"""Of each parameter, which values say something."""
FULL_IDS: Final = ("attach", "renew", "cancel", "replace")
"""Verbs whose `id` is that of a receipt."""
FULL_IDS: Final = ("attach", "renew", "cancel", "replace")
"""Verbs whose `id` is that of a receipt."""


def parameters(verb: str) -> list[str]:
    return list(inspect.signature(getattr(meteor.Client, verb)).parameters)[1:]


@pytest.mark.parametrize(
    ("verb", "name"),
    [(verb, name) for verb in VERBS for name in parameters(verb)],
)
def test_a_verb_refuses_what_says_nothing(overlay: FakeOverlay, verb: str, name: str) -> None:
    async def scenario() -> None:
        client = await overlay.new_client(identity=meteor.Identity.from_seed(b"x" * 32)).open()
        id = (await client.store(PROFILE)).id
        before = sum(len(peer.requests) for peer in overlay.peers)

        begun: list[Any] = []

        def attempt(value: Any) -> None:
            given: dict[str, Any] = dict(zip(parameters(verb), VERBS[verb], strict=False))
            given = {key: id if one == "id" else one for key, one in given.items()} | {name: value}
            lost = [given.pop("lost")] if "lost" in given else []
            begun.append(getattr(client, verb)(*lost, **given))
            if verb in ("ring", "forget"):  # they say so as they are carried out
                begun[-1].send(None)

        is_whole = name == "id" and verb in FULL_IDS
        check(name, set() if is_whole else TAKEN[name], attempt)
        assert sum(len(peer.requests) for peer in overlay.peers) == before
        for one in begun:
            if inspect.iscoroutine(one):
                one.close()
            elif (closing := one.close()) is not None:
                await closing

    overlay.run(scenario())


def test_every_verb_is_driven() -> None:
    assert set(VERBS) == set(BOTH_SIDES.methods) - {"owner"}


def test_a_lifetime_is_seconds() -> None:
    check("ttl", TAKEN["ttl"], lambda ttl: checked_ttl_s("store", ttl))
    check("timeout", TAKEN["timeout"], checked_timeout_s)


@pytest.mark.parametrize("connect", [meteor.connect, meteor.Client.open], ids=["connect", "open"])
def test_so_does_connecting(overlay: FakeOverlay, connect: Any) -> None:
    def attempt(timeout: Any) -> None:
        if connect is meteor.connect:
            connect("127.0.0.1:1", timeout=timeout)
        else:
            overlay.run(overlay.new_client().open(timeout))

    check("timeout", TAKEN["timeout"], attempt)


def test_the_blocking_side_says_the_same() -> None:
    with pytest.raises(meteor.LimitExceeded, match="timeout: '5' is not between"):
        meteor.sync.connect("127.0.0.1:1", timeout="5")  # type: ignore[arg-type]


def test_a_wait_that_is_longer_than_a_float_is_none(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        interest = await client.notify_data("type=lamp")
        for timeout in (10**400, -(10**5000)):
            with pytest.raises(ValueError, match=r"timeout: -?0x"):
                await interest.recv(timeout)

    overlay.run(scenario())


def test_what_is_taken_travels_as_what_it_says(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        for text in (Named.LAMP, np.str_("lamp")):
            receipt = await client.post(
                PROFILE, "store", data=text, id=text, content_type=text, context={text: text}
            )
            assert receipt.id.partition(".")[0] == "lamp"
            match = await client.retrieve(PROFILE).first()
            assert match is not None
            assert (match.text, match.content_type) == ("lamp", "lamp")
            assert match.context == {"lamp": "lamp"}
            assert (await client.cancel(receipt.id)).matches == 1

    overlay.run(scenario())


def test_a_content_type_has_a_length(overlay: FakeOverlay) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        await client.store(PROFILE, b"x", content_type="a" * CONTENT_TYPE_LENGTH_MAX)
        with pytest.raises(meteor.LimitExceeded, match="content_type characters is 1025"):
            client.store(PROFILE, b"x", content_type="a" * (CONTENT_TYPE_LENGTH_MAX + 1))

    overlay.run(scenario())


def test_a_peer_takes_no_longer_one_either() -> None:
    said = Document("store", b"", content_type="a" * (CONTENT_TYPE_LENGTH_MAX + 1))
    with pytest.raises(meteor.LimitExceeded, match="content_type"):
        check_document(said)


@pytest.mark.parametrize(
    "context",
    [
        (("a", "b" * CONTEXT_LENGTH_MAX),),
        (("a" * (CONTEXT_LENGTH_MAX + 1), ""),),
        (("a" * 64, "b"),) * 1024,
    ],
    ids=["value", "name", "together"],
)
def test_a_peer_takes_no_context_without_end(context: tuple[tuple[str, str], ...]) -> None:
    """A client of ours refuses a far shorter one; a peer keeps what anybody sends."""
    blob = encode_document(Document("store", b"", context=context))
    with pytest.raises(meteor.LimitExceeded, match="context"):
        read_document(blob)


def test_a_peer_takes_the_longest_context() -> None:
    context = (("a" * 32, "b" * 32),) * 1024
    assert read_document(encode_document(Document("store", b"", context=context))).context


def test_json_that_is_nested_without_end_is_refused(overlay: FakeOverlay) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    async def scenario() -> None:
        client = await overlay.new_client().open()
        with pytest.raises(ValueError, match="json: it is nested too deeply"):
            client.store(PROFILE, json=deep)

    overlay.run(scenario())
    while deep:  # taken apart from outside: a deep list is let go by calls as deep
        deep = deep[0]
