"""REST on whole peers over sockets: what one posts another finds, forms and limits hold."""

from __future__ import annotations

import asyncio
import json
import shutil
from xml.etree import ElementTree

import aiohttp
import pytest

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.building import SPACE
from tests.meteor.rest.http_client import Http

pytestmark = pytest.mark.sockets

TOKEN = "a-token-of-good-length"


async def test_what_one_peer_is_told_another_finds(http: Http) -> None:
    full_id = await http.store(21.5, id="s1")
    assert full_id.startswith("s1.")
    status, headers, form = await http.ask("GET", "/profiles", peer=1, select="temperature=20..30")
    assert (status, headers["Meteor-Complete"]) == (200, "true")
    assert [match["profile"] for match in form["matches"]] == ["type=temperature temperature=21.5"]
    accept = {"Accept": "text/xml;q=0.9, application/json;q=0.1"}
    status, headers, raw = await http.ask(
        "GET", "/profiles", select="type=temp*", headers=accept
    )  # fmt: skip
    assert headers["Content-Type"].startswith("application/xml")
    assert headers["Vary"] == "Accept, Origin"
    assert ElementTree.fromstring(raw).get("matches") == "1"
    status, _, form = await http.ask("DELETE", f"/messages/{full_id}", peer=1)
    assert (status, form["matches"]) == (200, 1)
    assert (await http.ask("DELETE", f"/messages/{full_id}"))[0] == 404
    assert (await http.ask("DELETE", "/messages/nonsense"))[0] == 400


async def test_long_answers_come_in_pages(http: Http) -> None:
    stored = {await http.store(number) for number in range(7)}
    found, path = [], "/profiles?select=type%3Dtemp*&limit=3"
    sizes = []
    while path:
        status, headers, form = await http.ask("GET", path)
        assert status == 200
        assert form["total"] == 7
        sizes.append(len(form["matches"]))
        found += [match["id"] for match in form["matches"]]
        path = form.get("next", "")
        assert (f'<{path}>; rel="next"' in headers.get("Link", "")) == bool(path)
    assert sizes == [3, 3, 1]
    assert (sorted(found), len(found)) == (sorted(stored), 7)


async def test_what_the_caller_has_is_not_sent_again(http: Http) -> None:
    await http.store(21.5)
    for path in ("/profiles?select=type%3Dtemp*", "/ring", "/space", "/openapi.json", "/"):
        status, headers, _ = await http.ask("GET", path)
        assert status == 200
        again = {"If-None-Match": headers["ETag"]}
        status, headers, body = await http.ask("GET", path, headers=again)
        assert (status, body, headers["ETag"]) == (304, b"", again["If-None-Match"]), path
    await http.store(22.5)
    tag = (await http.ask("GET", "/profiles", select="type=temp*"))[1]["ETag"]
    await http.store(23.5)
    status, _, form = await http.ask(
        "GET", "/profiles", select="type=temp*", headers={"If-None-Match": tag}
    )
    assert (status, form["total"]) == (200, 3)
    modified = (await http.ask("GET", "/space"))[1]["Last-Modified"]
    assert (await http.ask("GET", "/space", headers={"If-Modified-Since": modified}))[0] == 304


async def test_methods(http: Http) -> None:
    for path, allow in (
        ("/profiles", "DELETE, GET, HEAD, OPTIONS, POST"),
        ("/messages", "OPTIONS, POST"),
        ("/ring", "GET, HEAD, OPTIONS"),
    ):
        status, headers, form = await http.ask("PATCH", path)
        assert (status, headers["Allow"]) == (405, allow)
        status, headers, _ = await http.ask("OPTIONS", path)
        assert (status, sorted(headers["Allow"].split(", "))) == (204, allow.split(", "))
    for path in ("/ring", "/space", "/", "/events?select=type%3Da", "/live"):
        status, _, body = await http.ask("HEAD", path)
        assert (status, body) == (200, b""), path
    assert not [r for r in http.peers[0].core.shelf.store.records() if r.kind == "interest"]
    status, _, form = await http.ask("GET", "/nowhere")
    assert (status, form["type"]) == (404, "urn:meteor:error:NotFound")
    assert (await http.ask("GET", "/ring", headers={"Accept": "application/xml"}))[0] == 406
    assert (await http.ask("GET", "/ring", x="1"))[0] == 400


async def test_pages_of_other_sites_change_nothing_unless_they_are_named(http: Http) -> None:
    evil = {"Origin": "http://evil.example"}
    status, headers, form = await http.ask("POST", "/profiles", profile="type=a", headers=evil)
    assert (status, form["rule"]) == (403, "origin")
    assert "Access-Control-Allow-Origin" not in headers
    named = {"Origin": "https://panel.example"}
    status, headers, _ = await http.ask("POST", "/profiles", profile="type=a", headers=named)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, "https://panel.example")
    status, headers, _ = await http.ask("OPTIONS", "/profiles", headers=named)
    assert "POST" in headers["Access-Control-Allow-Methods"]
    status, headers, _ = await http.ask("OPTIONS", "/profiles", headers=evil)
    assert "Access-Control-Allow-Methods" not in headers


async def test_a_token_opens_what_is_closed() -> None:
    async with (
        meteor.Peer(space=SPACE, rest=RestConfig(token=TOKEN)) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(session, [peer])
        far = {"X-Forwarded-For": "192.0.2.9"}
        assert (await http.ask("GET", "/access", headers=far))[2]["access"] == "write with token"
        status, headers, _ = await http.ask("POST", "/profiles", profile="type=a", headers=far)
        assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="meteor"')
        shown = far | {"Authorization": f"Bearer {TOKEN}"}
        status, _, form = await http.ask("POST", "/profiles", profile="type=a", headers=shown)
        assert status == 200, form
        assert (await http.ask("GET", "/profiles", select="type=a", headers=far))[2]["total"] == 1


async def test_a_body_that_does_not_come_is_given_up(http: Http) -> None:
    host, _, port = http.peers[0].address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "POST /profiles?profile=type%3Da HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"
    writer.write(f"{head}ab".encode())
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408 "), answer
    assert b"Connection: close" in answer


async def test_too_large_a_body_is_refused_before_it_is_sent(http: Http) -> None:
    host, _, port = http.peers[0].address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = "POST /profiles?profile=type%3Da HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
    writer.write(f"{head}Content-Length: 99999999\r\nConnection: close\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 413 "), answer
    status, _, form = await http.ask(
        "POST", "/profiles", profile="type=a", data=b"x", headers={"Content-Encoding": "gzip"}
    )
    assert (status, form["value"]) in [(415, "gzip"), (400, None)]


# -- the overlay


async def test_the_ring_the_links_and_the_registry(http: Http) -> None:
    await http.store(21.5)
    await http.peers[0].notify_data("temperature>=20", ttl=300)
    _, _, ring = await http.ask("GET", "/ring")
    assert [peer["address"] for peer in ring["peers"]] == [peer.address for peer in http.peers]
    assert abs(sum(peer["share"] for peer in ring["peers"]) - 1) < 1e-4
    _, _, form = await http.ask("GET", "/links")
    assert {link["from"] for link in form["links"]} == {peer["id"] for peer in ring["peers"]}
    assert all(link["round_trip_ms"] > 0 for link in form["links"])
    found = []
    for peer in (0, 1):
        _, _, page = await http.ask("GET", "/records", peer=peer, search="TEMPERATURE 21.5")
        found += page["records"]
        _, _, page = await http.ask("GET", "/records", peer=peer, kind="interest")
        found += page["records"]
    assert sorted({record["kind"] for record in found}) == ["data", "interest"]
    assert [record["profile"] for record in found if record["kind"] == "data"] == [
        "type=temperature temperature=21.5"
    ]


async def test_the_registry_is_looked_through_page_by_page(http: Http) -> None:
    for number in range(9):
        await http.store(number)
    profiles = []
    for peer in (0, 1):
        path = "/records?kind=data&limit=2"
        while path:
            _, _, page = await http.ask("GET", path, peer=peer)
            assert len(page["records"]) <= 2
            profiles += [record["profile"] for record in page["records"]]
            path = page.get("next", "")
    assert sorted(profiles) == sorted(f"type=temperature temperature={n}" for n in range(9))


async def test_explaining_says_whom_a_query_would_ask(http: Http) -> None:
    _, _, form = await http.ask("GET", "/explain", select="temperature=20..30")
    answer = http.peers[0].retrieve("temperature=20..30")
    await answer.all()
    assert answer.receipt is not None
    assert len(form["touched"]) == answer.receipt.peers
    status, _, form = await http.ask("GET", "/explain", select="temperature=hot")
    assert (status, form["value"]) == (400, "hot")
    status, _, form = await http.ask("GET", "/curve", select="temperature=20..30", order="3")
    assert status == 200
    assert len(form["cells"]) == 64


async def test_a_list_says_where_everything_lies_as_the_picture_does(http: Http) -> None:
    for degrees in (-12, 21.5, 90):
        await http.peers[1].store(f"type=temperature temperature={degrees}", b"")
    question = {"select": "type=temperature"}
    _, _, form = await http.ask("GET", "/profiles", **question, places="true")
    names = [dimension.name for dimension in SPACE.dimensions]
    for x, y in ((names[0], names[1]), (names[1], names[0])):
        _, _, picture = await http.ask("GET", "/curve", **question, found="true", x=x, y=y)
        listed = [{k: m["place"][names.index(n)] for k, n in zip("xy", (x, y), strict=True)}
                  for m in form["matches"]]  # fmt: skip
        assert len(listed) == 3
        assert sorted(map(str, listed)) == sorted(map(str, picture["found"]))
    _, _, plain = await http.ask("GET", "/profiles", **question)
    assert all("place" not in match for match in plain["matches"])


# -- a sensor that has only curl


@pytest.mark.processes
async def test_a_sensor_with_only_curl(http: Http) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("no curl on this machine")

    async def run(*arguments: str) -> str:
        process = await asyncio.create_subprocess_exec(
            curl, "--silent", "--show-error", "--fail-with-body", *arguments,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        out, _ = await process.communicate()
        assert process.returncode == 0, out
        return out.decode()

    profile = http.url("/profiles", profile="type=temperature temperature=21.5", ttl="600")
    receipt = json.loads(await run("--data", "warm", profile))
    assert (receipt["complete"], receipt["ttl"]) == (True, 600.0)
    select = http.url("/profiles", 1, select="type=temp* temperature=20..30")
    (match,) = json.loads(await run(select))["matches"]
    assert (match["data"], match["id"]) == ("warm", receipt["id"])
    message = (
        "<message><header><profile><temperature operator='>=' value='20'/></profile></header>"
        "<action>retrieve</action></message>"
    )
    result = ElementTree.fromstring(await run("--data-binary", message, http.url("/messages")))
    assert result.findtext("match/payload") == "warm"
    stream = await asyncio.create_subprocess_exec(
        curl, "--silent", "--no-buffer", http.url("/events", select="temperature>=20"),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert stream.stdout is not None
    try:
        async with asyncio.timeout(20):
            while b"warm" not in await stream.stdout.readline():
                continue
    finally:
        stream.terminate()
        await stream.wait()
    cancelled = json.loads(
        await run("--request", "DELETE", http.url(f"/messages/{receipt['id']}"))
    )
    assert cancelled["matches"] == 1


async def test_a_peer_that_signs_lends_nobody_its_name() -> None:
    identity = meteor.Identity.generate()
    async with (
        meteor.Peer(space=SPACE, identity=identity) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(session, [peer])
        mine = await peer.store("type=temperature temperature=20", visible_to=[identity.key])
        theirs = await http.store(21.0)
        _, _, form = await http.ask("GET", "/profiles", select="type=temp*")
        assert [(match["id"], match["owner"]) for match in form["matches"]] == [(theirs, "")]
        assert {match.id for match in await peer.retrieve("type=temp*")} == {mine.id, theirs}
        status, _, _ = await http.ask("DELETE", f"/messages/{mine.id}")
        assert status in (403, 404)
        assert {match.id for match in await peer.retrieve("type=temp*")} == {mine.id, theirs}


async def test_behind_a_policy_only_who_runs_the_peer_looks_into_it() -> None:
    policy = meteor.parse_policy('default = "deny"')
    async with (
        meteor.Peer(space=SPACE, policy=policy, rest=RestConfig(token=TOKEN)) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(session, [peer])
        assert (await http.ask("GET", "/profiles", select="type=a"))[0] == 403
        far = {"X-Forwarded-For": "192.0.2.9"}
        for path in ("/records", "/live"):
            status, _, form = await http.ask("GET", path, headers=far)
            assert (status, form["rule"]) == (403, "policy")
        assert (await http.ask("GET", "/records"))[0] == 200
        shown = far | {"Authorization": f"Bearer {TOKEN}"}
        assert (await http.ask("GET", "/records", headers=shown))[0] == 200


async def test_a_message_that_finds_too_much_is_sent_to_the_pages() -> None:
    config = RestConfig(page_length_max=3, page_length=3)
    async with (
        meteor.Peer(space=SPACE, rest=config) as peer,
        aiohttp.ClientSession() as session,
    ):
        http = Http(session, [peer])
        question = json.dumps({"action": "retrieve", "profile": "type=temp*"})
        headers = {"Content-Type": "application/json"}
        for number in range(3):
            await http.store(number)
        status, _, form = await http.ask("POST", "/messages", data=question, headers=headers)
        assert (status, form["total"]) == (200, 3)
        await http.store(4)
        status, _, form = await http.ask("POST", "/messages", data=question, headers=headers)
        assert (status, form["value"], form["limit"]) == (400, 4, 3)
