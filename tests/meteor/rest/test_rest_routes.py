"""REST translates: parameters to verbs, answers to documents, errors to problems.

The verbs are a double that notes how it was called; whole peers are asked over REST in
test_rest_peer.py.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

import meteor
from meteor.client.guest import Guest
from meteor.rest.application import install
from meteor.rest.config import RestConfig
from meteor.rest.messages import Messages
from meteor.rest.profiles import Profiles
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, Found

pytestmark = pytest.mark.sockets

MATCH = meteor.Match(
    Found(
        id="d7.abc",
        version=1,
        owner="",
        ttl_ms=199_512,
        blob=encode_document(
            Document("store", pack_profile(meteor.Profile.parse("temperature=21.5")), b"\xff")
        ),
    )
)


@dataclass
class Answer:
    """What a retrieve gives."""

    complete: bool = True
    missing: tuple[tuple[int, int], ...] = ()
    receipt: meteor.Receipt = field(
        default_factory=lambda: meteor.Receipt("q.abc", complete=True, peers=3)
    )

    async def all(self) -> list[meteor.Match]:
        return [MATCH]

    async def __aiter__(self) -> AsyncIterator[meteor.Match]:
        yield MATCH


class Double:
    """Notes each call; raises or returns what it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.outcome: Any = meteor.Receipt("name.abc", complete=True, matches=1, peers=1)

    def __getattr__(self, verb: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append((verb, arguments, options))
            if isinstance(self.outcome, Exception):
                raise self.outcome
            asks = verb == "retrieve" or arguments[1:2] == ("retrieve",)
            return Answer() if asks and isinstance(self.outcome, meteor.Receipt) else self.give()

        return call

    def give(self) -> Any:
        async def later() -> Any:
            return self.outcome

        return self.outcome if isinstance(self.outcome, Answer) else later()


@pytest.fixture
def double() -> Double:
    return Double()


@pytest.fixture
async def http(double: Double) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    config = RestConfig(body_bytes_max=1000, body_timeout_s=5.0)
    verbs = cast(Guest, double)
    resources = [*Profiles(verbs, config).resources(), *Messages(verbs, config).resources()]
    application = web.Application()
    install(application, resources, config, tuple)
    async with TestClient(TestServer(application)) as client:
        yield client


async def test_a_sensor_stores_with_curl(http: Any, double: Double) -> None:
    reply = await http.post(
        "/profiles",
        params={"profile": "temperature=21.5", "ttl": "600", "id": "s1"},
        data=b"warm",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert reply.status == 200
    assert reply.headers["Meteor-Complete"] == "true"
    assert (await reply.json())["id"] == "name.abc"
    ((verb, arguments, options),) = double.calls
    assert (verb, arguments) == ("store", ("temperature=21.5", b"warm"))
    assert (options["ttl"], options["id"], options["content_type"]) == (600.0, "s1", None)


async def test_a_content_type_is_kept(http: Any, double: Double) -> None:
    await http.post("/profiles?profile=a%3D1", data=b"{}", headers={"Content-Type": "text/csv"})
    assert double.calls[0][2]["content_type"] == "text/csv"


async def test_a_retrieve_is_one_document(http: Any, double: Double) -> None:
    reply = await http.get("/profiles", params={"select": "temperature>=20", "everywhere": "true"})
    form = await reply.json()
    assert form["complete"] is True
    assert form["peers"] == 3
    (match,) = form["matches"]
    assert match["id"] == "d7.abc"
    assert match["profile"] == "temperature=21.5"
    assert match["data_base64"] == "/w=="
    assert match["ttl"] == 199.512
    assert double.calls[0][2]["everywhere"] is True


async def test_an_incomplete_answer_is_200_and_says_so(http: Any, double: Double) -> None:
    double.outcome = Answer(complete=False, missing=((5, 2**80),))
    reply = await http.get("/profiles", params={"select": "a=1"})
    assert reply.status == 200
    assert reply.headers["Meteor-Complete"] == "false"
    form = await reply.json()
    assert form["complete"] is False
    assert form["missing"] == [["5", str(2**80)]]


async def test_a_delete_counts(http: Any, double: Double) -> None:
    reply = await http.delete(
        "/profiles", params={"select": "a=1", "mode": "overlap", "dry_run": "1"}
    )
    assert (await reply.json())["matches"] == 1
    assert double.calls[0][2]["mode"] == "overlap"
    assert double.calls[0][2]["dry_run"] is True


async def test_a_cancel_of_nothing_is_404(http: Any, double: Double) -> None:
    assert (await http.delete("/messages/name.abc")).status == 200
    double.outcome = meteor.Receipt("x.abc", complete=True)
    assert (await http.delete("/messages/x.abc")).status == 404


@pytest.mark.parametrize(
    ("error", "status", "fields"),
    [
        (meteor.SelectorError("a=", 2, "none", "give one"), 400, {"value": "a=", "position": 2}),
        (meteor.TypeMismatch("temperature", "hot", "a number"), 400, {"value": "hot"}),
        (meteor.LimitExceeded("ttl", -1, 0), 400, {"name": "ttl", "value": -1, "limit": 0}),
        (meteor.LimitExceeded("data bytes", 2, 1), 413, {"value": 2, "limit": 1}),
        (meteor.Refused("no", "everywhere"), 403, {"rule": "everywhere"}),
        (meteor.Timeout("late"), 504, {}),
        (meteor.Busy("full"), 503, {}),
        (meteor.NotConnected("nobody"), 503, {}),
        (meteor.MeteorError("odd"), 502, {}),
        (ValueError("odd"), 400, {}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_is_a_problem_document(
    http: Any, double: Double, error: Exception, status: int, fields: dict[str, Any]
) -> None:
    double.outcome = error
    reply = await http.get("/profiles", params={"select": "a=1"})
    assert reply.status == status
    assert reply.content_type == "application/problem+json"
    form = await reply.json()
    assert form["type"] == f"urn:meteor:error:{type(error).__name__}"
    assert form["detail"] == str(error)
    assert fields.items() <= form.items()
    assert ("Retry-After" in reply.headers) == (status == 503)


async def test_a_bug_is_logged_and_says_nothing(
    http: Any, double: Double, caplog: pytest.LogCaptureFixture
) -> None:
    double.outcome = KeyError("a secret")
    reply = await http.get("/profiles", params={"select": "a=1"})
    assert reply.status == 500
    assert "secret" not in await reply.text()
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("verb", "path", "said"),
    [
        ("GET", "/profiles", "'select' is missing"),
        ("GET", "/profiles?selector=a", "unknown parameter 'selector'"),
        ("GET", "/profiles?select=a&select=b", "given twice"),
        ("GET", "/profiles?select=a&timeout=soon", "not a number"),
        ("GET", "/profiles?select=a&timeout=nan", "timeout"),
        ("GET", "/profiles?select=a&timeout=3600", "timeout"),
        ("GET", "/profiles?select=a&everywhere=maybe", "neither true nor false"),
        ("DELETE", "/profiles?select=a&mode=near", "none of within, overlap"),
        ("POST", "/profiles?profile=a%3D1&ttl=x", "not a number"),
        ("GET", "/profiles?select=a%zz", "no percent-encoding"),
        ("GET", "/profiles?select=%ff", "not UTF-8"),
        ("POST", "/profiles?profile=a%3D1&ttl=-1", "ttl"),
    ],
)
async def test_bad_parameters_are_refused(
    http: Any, double: Double, verb: str, path: str, said: str
) -> None:
    address = URL(str(http.make_url("/")).rstrip("/") + path, encoded=True)
    reply = await http.session.request(verb, address)
    assert reply.status == 400
    assert said in (await reply.json())["detail"]
    assert not double.calls


async def test_an_oversize_body_is_refused_before_it_is_all_read(http: Any, double: Double) -> None:
    reply = await http.post("/profiles?profile=a%3D1", data=b"x" * 5000)
    assert reply.status == 413
    assert (await reply.json())["limit"] == 1000
    assert not double.calls


MESSAGE = (
    '<message id="m1"><header><profile><temperature value="21.5"/></profile><ttl>{ttl}</ttl>'
    "</header><action>{action}</action><payload>{data}</payload></message>"
)


async def test_a_message_is_stored(http: Any, double: Double) -> None:
    document = MESSAGE.format(ttl=600_000, action="store", data="warm")
    reply = await http.post("/messages", data=document.encode())
    assert reply.status == 200, await reply.text()
    assert reply.content_type == "application/xml"
    result = ElementTree.fromstring(await reply.text())
    assert result.attrib == {
        "id": "name.abc", "action": "store", "complete": "true", "matches": "1", "peers": "1",
    }  # fmt: skip
    ((verb, arguments, options),) = double.calls
    assert (verb, arguments[1]) == ("post", "store")
    assert str(arguments[0]) == "temperature=21.5"
    assert (options["data"], options["ttl"], options["id"]) == (b"warm", 600.0, "m1")


async def test_a_retrieving_message_gets_its_matches(http: Any) -> None:
    document = MESSAGE.format(ttl=0, action="retrieve", data="")
    result = ElementTree.fromstring(
        await (await http.post("/messages", data=document.encode())).text()
    )
    assert (result.get("id"), result.get("matches"), result.get("peers")) == ("m1", "1", "3")
    match = result.find("match")
    assert match is not None
    assert match.get("ttl") == "199512"
    assert match.find("profile/temperature") is not None


@pytest.mark.parametrize("said", ["application/json", "application/x-www-form-urlencoded", ""])
@pytest.mark.parametrize("action", ["store", "retrieve", "stor"])
async def test_a_message_in_json_is_answered_in_json(http: Any, said: str, action: str) -> None:
    """Also where its sender, curl for one, says nothing of the form: it is seen."""
    body = json.dumps({"profile": "a=1", "action": action}).encode()
    headers = {"Content-Type": said} if said else {}
    skipped = [] if said else ["Content-Type"]
    reply = await http.post(
        "/messages", data=body, headers=headers, skip_auto_headers=skipped
    )
    form = await reply.json(content_type=None)
    if action == "stor":
        assert (reply.status, reply.content_type) == (400, "application/problem+json")
        return
    assert (reply.status, reply.content_type) == (200, "application/json")
    assert form["action"] == action
    as_xml = await http.post(
        "/messages", data=body, headers={**headers, "Accept": "application/xml"},
        skip_auto_headers=skipped,
    )  # fmt: skip
    assert as_xml.content_type == "application/xml"


@pytest.mark.parametrize(
    ("document", "status", "kind"),
    [
        (b"no xml", 400, "ProfileError"),
        (b'<!DOCTYPE m [<!ENTITY a "b">]><message/>', 400, "ProfileError"),
        (b"<message/>", 400, "ProfileError"),
        (MESSAGE.format(ttl=0, action="stor", data="").encode(), 400, "UnknownAction"),
        (MESSAGE.format(ttl=0, action="retrieve(h:1)", data="").encode(), 403, "Refused"),
        (MESSAGE.format(ttl=600, action="retrieve", data="").encode(), 403, "Refused"),
        (MESSAGE.format(ttl=0, action="notify_data", data="").encode(), 403, "Refused"),
        (MESSAGE.format(ttl=-5, action="store", data="").encode(), 400, "ProfileError"),
        (b"<message>" + b"x" * 5000, 413, "LimitExceeded"),
    ],
    ids=[
        "text",
        "doctype",
        "empty",
        "action",
        "reply address",
        "standing",
        "notify",
        "ttl",
        "size",
    ],
)
async def test_a_bad_message_is_a_problem_in_xml(
    http: Any, double: Double, document: bytes, status: int, kind: str
) -> None:
    reply = await http.post("/messages", data=document)
    assert reply.status == status, await reply.text()
    assert reply.content_type == "application/problem+xml"
    problem = ElementTree.fromstring(await reply.text())
    assert problem.findtext("{urn:ietf:rfc:7807}type") == f"urn:meteor:error:{kind}"
    assert not double.calls


async def test_problem_documents_are_utf8_json(http: Any, double: Double) -> None:
    double.outcome = meteor.MeteorError("zürich \x00 <&>")
    reply = await http.get("/profiles", params={"select": "a=1"})
    assert json.loads(await reply.read())["detail"] == "zürich \x00 <&>"
