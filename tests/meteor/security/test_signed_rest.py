"""Signed requests by REST: in whose name they come, and what is sent again or changed."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator, Sequence

import aiohttp
import pytest

from meteor import ActionContext, Match, Peer, Policy, Refused, connect, parse_policy
from meteor.rest.once import UsedSignatures
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import events, take
from tests.meteor.security.signed_http import PROFILE, Http, headers
from tests.meteor.security.signers import ALICE, BOB, identity

pytestmark = pytest.mark.sockets

XML = "application/xml"
MESSAGE = b"""<message id="m1"><header><credentials key="%s"/><profile><type value="light"/>
<temperature value="20"/></profile><ttl>60000</ttl></header><action>store</action>
<payload type="text/plain" encoding="text">x</payload></message>""" % ALICE.key.encode()


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with (
        Peer(space=SPACE, identity=identity("the peer itself")) as peer,
        aiohttp.ClientSession() as session,
    ):
        yield Http(peer, session)


async def owners(http: Http) -> list[str]:
    _, form = await http.ask("GET", f"/profiles?select={PROFILE}")
    return [match["owner"] for match in form["matches"]]


async def test_a_signed_request_owns_what_it_stores(http: Http) -> None:
    path = f"/profiles?profile={PROFILE}&ttl=60&id=lamp"
    status, receipt = await http.ask("POST", path, b"x", ALICE)
    assert status == 200, receipt
    assert await owners(http) == [ALICE.key]
    for who in (BOB, None):
        status, problem = await http.ask("DELETE", f"/messages/{receipt['id']}", who=who)
        assert (status, problem["rule"]) == (403, "owner")
        status, form = await http.ask("DELETE", f"/profiles?select={PROFILE}", who=who)
        assert form["matches"] == 0
    async with connect(http.peer.address, identity=ALICE) as client:
        assert (await client.renew(receipt["id"], ttl=30)).matches == 1
    status, _ = await http.ask("DELETE", f"/messages/{receipt['id']}", who=ALICE)
    assert status == 200
    assert await owners(http) == []


async def test_the_peer_lends_its_own_name_to_nobody(http: Http) -> None:
    await http.ask("POST", f"/profiles?profile={PROFILE}", b"x")
    assert await owners(http) == [""]


async def test_a_repeat_is_one_post(http: Http) -> None:
    path = f"/profiles?profile={PROFILE}"
    signed = headers("POST", path, b"x")
    receipts = [await http.send("POST", path, b"x", signed) for _ in range(3)]
    assert len({form["id"] for _, form in receipts}) == 1
    assert await owners(http) == [ALICE.key]


async def test_a_repeated_action_of_the_application_is_not_run_again(http: Http) -> None:
    """It sees what its signer may see, once; who reads along and sends it again gets nothing."""
    ran: list[list[str]] = []

    def count(_: ActionContext, message: Match, matches: Sequence[Match]) -> bytes:
        ran.append(sorted(match.owner for match in matches))
        return b"%d for %s" % (len(matches), message.owner.encode())

    http.peer.action("count")(count)
    await http.ask("POST", f"/profiles?profile={PROFILE}", b"all")
    hidden = f"/profiles?profile={PROFILE}&visible_to={ALICE.key.replace(':', '%3A')}"
    assert (await http.ask("POST", hidden, b"hers", ALICE))[0] == 200
    path, body = "/messages", b'{"profile": "type=light", "action": "count"}'
    signed = headers("POST", path, body)
    forms = [(await http.send("POST", path, body, signed))[1] for _ in range(2)]
    assert [form["complete"] for form in forms] == [True, False]
    assert forms[0]["results"][0]["data"] == f"2 for {ALICE.key}"
    assert (forms[1]["results"], "ran here already" in forms[1]["troubles"][0]) == ([], True)
    _, form = await http.ask("POST", path, body)
    assert form["results"][0]["data"] == "1 for "
    assert ran == [["", ALICE.key], [""]]


async def test_an_older_request_is_refused(http: Http) -> None:
    path, now = f"/profiles?profile={PROFILE}&id=lamp", int(time.time() * 1000)
    await http.send("POST", path, b"new", headers("POST", path, b"new", issued_ms=now))
    old = headers("POST", path, b"old", issued_ms=now - 1000)
    status, problem = await http.send("POST", path, b"old", old)
    assert (status, problem["rule"]) == (403, "older")


@pytest.mark.parametrize("seconds", [-3600, 3600])
async def test_a_request_of_another_hour_is_refused(http: Http, seconds: int) -> None:
    path, issued = f"/profiles?profile={PROFILE}", int((time.time() + seconds) * 1000)
    signed = headers("POST", path, b"x", issued_ms=issued)
    status, problem = await http.send("POST", path, b"x", signed)
    assert (status, problem["rule"]) == (403, "issue_time")


async def test_no_part_can_be_changed(http: Http) -> None:
    path = f"/profiles?profile={PROFILE}&ttl=60"
    good = headers("POST", path, b"x")
    for method, asked, body, changed in (
        ("POST", path, b"y", {}),
        ("POST", path + "0", b"x", {}),
        ("DELETE", path, b"x", {}),
        ("POST", path, b"x", {"Meteor-Issued": str(int(good["Meteor-Issued"]) + 1)}),
        ("POST", path, b"x", {"Meteor-Version": "7"}),
        ("POST", path, b"x", {"Meteor-Key": BOB.key}),
        ("POST", path, b"x", {"Meteor-Signature": ""}),
        ("POST", path, b"x", {"Meteor-Signature": "%"}),
        ("POST", path, b"x", {"Meteor-Issued": "+5"}),
        ("POST", path, b"x", {"Meteor-Issued": ""}),
    ):
        status, problem = await http.send(method, asked, body, good | changed)
        assert status in (400, 403), problem
        if status == 403:
            assert problem["rule"] == "signature"
    for name in good:
        status, problem = await http.send(
            "POST", path, b"x", {key: value for key, value in good.items() if key != name}
        )
        assert status in (400, 403), (name, problem)
    assert await owners(http) == []


async def test_credentials_in_a_document_must_be_those_that_signed(http: Http) -> None:
    xml = {"Content-Type": XML}
    for who in (BOB, None):
        signed = headers("POST", "/messages", MESSAGE, who, content_type=XML) if who else xml
        status, problem = await http.send("POST", "/messages", MESSAGE, signed)
        assert (status, problem["rule"]) == (403, "signature")
    signed = headers("POST", "/messages", MESSAGE, content_type=XML)
    status, _ = await http.send("POST", "/messages", MESSAGE, signed)
    assert status == 200
    assert await owners(http) == [ALICE.key]


async def test_what_is_hidden_is_seen_by_whom_it_is_for(http: Http) -> None:
    path = f"/profiles?profile={PROFILE}&visible_to={BOB.key}"
    assert (await http.ask("POST", path, b"x", ALICE))[0] == 200
    status, problem = await http.ask("POST", path, b"x")
    assert (status, problem["rule"]) == (403, "identity")
    question = f"/profiles?select={PROFILE}"
    for who, count in ((ALICE, 1), (BOB, 1), (identity("carol"), 0), (None, 0)):
        _, form = await http.ask("GET", question, who=who)
        assert form["total"] == count
    _, form = await http.ask("GET", "/ring")
    assert sum(peer["data"] for peer in form["peers"]) == 0


async def test_a_signed_stream_is_resumed_by_its_signer_alone(http: Http) -> None:
    """Its name is that of an interest, and everybody may know of that: what is told there is for
    one key."""
    path = f"/events?select={PROFILE}"
    async with http.stream(path, headers("GET", path)) as reply:
        stream = events(reply)
        ((_, name, _),) = await take(stream, 1)
        stored = f"/profiles?profile={PROFILE}&visible_to="
        assert (await http.ask("POST", stored, b"hidden", ALICE))[0] == 200
        ((_, last, match),) = await take(stream, 1)
        assert match["data"] == "hidden"
        for who in (BOB, None):
            signed = headers("GET", path, who=who) if who is not None else {}
            async with http.stream(path, signed | {"Last-Event-ID": name}) as theirs:
                begins = await take(events(theirs), 2)
            assert [kind for kind, _, _ in begins] == ["reset", "open"]
            assert begins[1][1] != name
        assert (await http.ask("POST", stored, b"later", ALICE))[0] == 200
        ((_, later, match),) = await take(stream, 1)
        assert match["data"] == "later", "nobody took the stream from her"
    async with http.stream(path, headers("GET", path) | {"Last-Event-ID": last}) as reply:
        ((kind, again, _),) = await take(events(reply), 1)
    assert (kind, again) == ("match", later), "she herself goes on where she was"


async def test_a_signed_request_opens_one_stream(http: Http) -> None:
    """Whoever read it on its way opened one that went on for ever, as its signer."""
    path = f"/events?select={PROFILE}"
    signed = headers("GET", path) | {"Accept": "text/event-stream, */*"}
    spelled = signed["Meteor-Signature"]  # its last character has four bits that say nothing
    otherwise = spelled[:-3] + chr(ord(spelled[-3]) + 1) + "=="
    assert base64.b64decode(otherwise, validate=True) == base64.b64decode(spelled)
    async with http.stream(path, signed) as reply:
        ((_, secret, _),) = await take(events(reply), 1)
        for known in ({}, {"Last-Event-ID": secret}):
            for spelling in (spelled, otherwise):
                again = signed | known | {"Meteor-Signature": spelling}
                status, problem = await http.send("GET", path, b"", again)
                assert (status, problem["rule"]) == (403, "signature")
    old = headers("GET", path, issued_ms=int(time.time() * 1000) - 60_000)
    old["Accept"] = signed["Accept"]
    status, problem = await http.send("GET", path, b"", old)  # before this peer was started
    assert (status, problem["rule"]) == (403, "signature")


async def test_a_signed_stream_ends_and_goes_on_with_a_fresh_signature(
    http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("meteor.rest.events.SIGNED_S", 0.0)
    path = f"/events?select={PROFILE}"
    async with http.stream(path, headers("GET", path)) as reply:
        (opened, secret, _), (ended, _, said) = await take(events(reply), 2)
        assert (opened, ended, "sign anew" in said["reason"]) == ("open", "end", True)
        assert await reply.content.read() == b""
    assert (await http.ask("POST", f"/profiles?profile={PROFILE}", b"x", ALICE))[0] == 200
    async with http.stream(path, headers("GET", path) | {"Last-Event-ID": secret}) as reply:
        ((kind, event_id, _),) = await take(events(reply), 1)
    assert (kind, event_id.startswith(secret)) == ("match", True), "nothing was missed"


def test_the_memory_of_used_signatures_is_bounded_and_sure() -> None:
    """Clocks of those who sign are behind and ahead of the peer's: none of them is taken twice."""
    used = UsedSignatures(1000, length=3)
    taken = [(b"%d" % at, issued_ms) for at, issued_ms in enumerate((2003, 2000, 5000, 2002, 9000))]
    for at, (signature, issued_ms) in enumerate(taken):
        used.use(signature, issued_ms, 2001 + at)
        assert len(used._used) <= 3
    for signature, issued_ms in (*taken, (b"new", 999), (b"new", 2002)):
        with pytest.raises(Refused, match="sign the request anew"):
            used.use(signature, issued_ms, 3000)
    used.use(b"new", 2004, 3000)
    used.use(b"4", 10**6, 10**6)  # the window is over: its issue time would be refused
    assert len(used._used) == 1


async def test_a_policy_holds_for_rest_too() -> None:
    policy: Policy = parse_policy(
        f'default = "deny"\n[[rules]]\nname = "alice"\nwho = ["{ALICE.key}"]'
    )
    async with (
        Peer(space=SPACE, policy=policy) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(peer, session)
        path = f"/profiles?profile={PROFILE}"
        assert (await http.ask("POST", path, b"x", ALICE))[0] == 200
        status, problem = await http.ask("POST", path, b"x", BOB)
        assert (status, problem["rule"]) == (403, "default")
        assert (await http.ask("POST", path, b"x"))[0] == 403
        assert peer.core.gatekeeper.denials == {"default": 2}


XML_HEAD = b"""<message><header><profile><type value="light"/><temperature value="20"/></profile>"""
XML_TAIL = b"""</header><action>store</action><payload>x</payload></message>"""


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (
            "application/xml",
            XML_HEAD + b'<visible><to name="%s"/></visible>' % BOB.key.encode() + XML_TAIL,
        ),
        (
            "application/json",
            b'{"profile": "type=light temperature=20", "data": "x", "visible_to": ["%s"]}'
            % BOB.key.encode(),
        ),
    ],
)
async def test_messages_say_who_may_see_them(http: Http, kind: str, body: bytes) -> None:
    status, problem = await http.send("POST", "/messages", body, {"Content-Type": kind})
    assert (status, problem["rule"]) == (403, "identity")
    signed = headers("POST", "/messages", body, content_type=kind)
    status, problem = await http.send("POST", "/messages", body, signed)
    assert status == 200, problem
    for who, count in ((BOB, 1), (None, 0)):
        _, form = await http.ask("GET", f"/profiles?select={PROFILE}", who=who)
        assert form["total"] == count


@pytest.mark.parametrize(
    "visible",
    [b"<visible>a</visible><visible/>", b"<visible><key/></visible>", b"<visible><to/></visible>",
     b'<visible a="b"/>', b'<visible><to name="anyone"/></visible>'],
)  # fmt: skip
async def test_a_malformed_audience_is_refused(http: Http, visible: bytes) -> None:
    body = XML_HEAD + visible + XML_TAIL
    signed = headers("POST", "/messages", body, content_type=XML)
    assert (await http.send("POST", "/messages", body, signed))[0] in (400, 422)
    body = b'{"profile": "type=light temperature=20", "visible_to": "%s"}' % BOB.key.encode()
    signed = headers("POST", "/messages", body, content_type="application/json")
    assert (await http.send("POST", "/messages", body, signed))[0] in (400, 422)
