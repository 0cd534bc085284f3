"""The dashboard in a browser: post, watch, query, by mouse, by keyboard and on a phone.

The peers are real and so is the browser; nothing is asserted of time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from selenium.webdriver import Chrome

import meteor
from meteor.rest.config import RestConfig
from tests.meteor.dashboard.conftest import SPACE
from tests.meteor.dashboard.page import Keys, Page

# One browser is enough: on two workers each would start its own.
pytestmark = [pytest.mark.sockets, pytest.mark.processes, pytest.mark.xdist_group("browser")]

PHONE = {"width": 375, "height": 812, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture
async def page(browser: Chrome, overlay: meteor.LocalOverlay) -> AsyncIterator[Page]:
    page = Page(browser)
    await page.open(overlay.peers[0].address)
    yield page
    complaints = await page.complaints()
    await page.run(lambda chrome: chrome.get("about:blank"))
    assert not [one for one in complaints if "400 (Bad Request)" not in one], complaints


async def test_a_query_lights_its_box_and_its_peers(
    page: Page, overlay: meteor.LocalOverlay
) -> None:
    await page.shows("#ring .big", "5")
    assert await page.count("#ring .peer") == 5
    await page.write("#selector", "temperature=20..28")
    await page.shows("#ask-note", "Concerns")
    answer = overlay.peers[0].retrieve("temperature=20..28")
    matches = await answer.all()
    assert answer.receipt is not None
    await page.shows("#ask-note", f"Concerns {answer.receipt.peers} of 5 peers")
    await page.until("return document.querySelector('#space .box') !== null")
    lit = "return document.querySelectorAll('#ring .peer.touched').length"
    assert await page.script(lit) == answer.receipt.peers
    assert await page.count("#space .cell.touched") > 0
    asked_before = overlay.peers[0].core.entry.tally.posts.copy()
    await page.click("#ask-form .primary")
    await page.shows("#found-count", f"{len(matches)} matches")
    assert await page.count("#found .row") == len(matches)
    assert "lab-east" in await page.text("#found")
    shown = "return document.querySelectorAll('#space .found-points circle').length"
    await page.until(f"{shown} > 0")
    lying = await page.script(shown)
    assert lying == len(matches)
    (asking,) = (overlay.peers[0].core.entry.tally.posts - asked_before).items()
    assert asking == (("retrieve", "complete"), 1), "a list that is whole is not asked for twice"
    asked = dict(overlay.peers[0].core.entry.tally.posts)
    cells = await page.count("#space .cell")
    await page.script(
        "const order = document.querySelector('#plane-order'); order.value = '3';"
        "order.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    await page.until(
        "return document.querySelectorAll('#space .cell').length < arguments[0]", cells
    )
    assert await page.script(shown) == lying
    assert dict(overlay.peers[0].core.entry.tally.posts) == asked, "a page asks nothing by itself"


async def test_a_post_from_the_page_reaches_the_watch_of_the_page(
    page: Page, overlay: meteor.LocalOverlay
) -> None:
    await page.write("#selector", "room=roof temperature>=30")
    await page.click("#watch-button")
    await page.shows(".watch-state", "waiting")
    await page.write("#post-profile", "room=roof temperature=33.5")
    await page.write("#post-data", "hot up here")
    await page.click("#post-button")
    await page.shows("#post-note", "Stored for 60 min, met 1 interest")
    await page.shows("#watches", "hot up here")
    await page.shows("#live", "hot up here")
    (match,) = await overlay.peers[3].retrieve("room=roof")
    assert match.text == "hot up here"
    await overlay.peers[4].store("room=roof temperature=41", b"from another peer")
    await page.shows("#watches", "from another peer")
    await page.shows(".watch-state", "2 matches")
    await page.click(".watch header button")
    await page.shows("#watches", "No interest yet")


async def test_a_watch_is_not_lost_to_what_is_typed_after_it(page: Page) -> None:
    slow = {"offline": False, "latency": 400, "downloadThroughput": -1, "uploadThroughput": -1}
    emulate = "Network.emulateNetworkConditions"
    await page.run(lambda chrome: chrome.execute_cdp_cmd(emulate, slow))
    try:
        await page.script(
            """
            const input = document.querySelector("#selector");
            input.value = "room=roof";
            document.querySelector("#watch-button").click();
            input.value = "room=roof temperature>=30";  // explained while the first is under way
            input.dispatchEvent(new Event("input"));
            """
        )
        await page.shows(".watch-state", "waiting")
        assert await page.text(".watch header code") == "room=roof"
    finally:
        await page.run(lambda chrome: chrome.execute_cdp_cmd(emulate, {**slow, "latency": 0}))


async def test_a_slip_in_a_selector_is_shown_where_it_is(page: Page) -> None:
    await page.write("#selector", "temperature=20...30")
    await page.until("return document.querySelector('#ask-note mark') !== null")
    assert await page.script("return document.querySelector('#selector').ariaInvalid") == "true"
    await page.write("#selector", "temperature=20..30")
    await page.shows("#ask-note", "Concerns")


async def test_the_registry_is_searched(page: Page, overlay: meteor.LocalOverlay) -> None:
    kept = [
        str(record.profile)
        for record in overlay.peers[0].core.shelf.store.records()
        if overlay.peers[0].core.shelf.lives_in(record, overlay.peers[0].core.holdings.held)
    ]
    await page.shows("#registry-count", "kept")
    assert await page.count("#registry .row") == len(kept)
    await page.write("#registry-search", "no such thing")
    await page.shows("#registry", "None of these")


async def test_links_between_peers_are_shown(page: Page) -> None:
    await page.shows("#links-count", "median")
    assert await page.count("#links tbody tr") == 5


async def test_everything_is_reached_by_keyboard(page: Page) -> None:
    await page.press(Keys.TAB)
    assert await page.focused() == "Skip to the query"
    await page.press(Keys.ENTER)
    await page.press(Keys.TAB)
    assert await page.focused() == "selector"
    await page.press("temperature>=20")
    await page.press(Keys.ENTER)
    await page.shows("#found-count", "match")
    seen: list[str] = []
    for _ in range(60):
        await page.press(Keys.TAB)
        seen.append(await page.focused())
        if seen[-1] == "links":
            break
    wanted = ["watch-button", "plane-x", "plane-order", "found", "watches", "live-pause", "live"]
    wanted += ["post-profile", "post-button", "registry-search", "registry", "links"]
    assert [one for one in seen if one in wanted] == wanted
    await page.script("document.querySelector('#ring .peer').focus()")
    await page.press(Keys.ARROW_RIGHT)
    await page.press(Keys.ENTER)
    chosen = "return [...document.querySelectorAll('#ring .peer')].map(p => p.ariaPressed)"
    assert await page.script(chosen) == ["false", "true", "false", "false", "false"]


async def test_a_peer_stays_the_same_element_while_the_ring_is_drawn_anew(
    page: Page, overlay: meteor.LocalOverlay
) -> None:
    """Else it is read out anew whenever it has the focus, and a click is lost to the drawing."""
    peers = "[...document.querySelectorAll('#ring .peer')]"
    await page.script(f"window.before = {peers}; window.before[0].focus()")
    loads = f"return {peers}.map(peer => peer.ariaLabel).join()"
    shown = await page.script(loads)
    await overlay.peers[1].store("room=roof temperature=41", b"one more")
    await page.until("return (() => {" + loads + "})() !== arguments[0]", shown)
    assert await page.script(f"return {peers}.every((peer, at) => peer === window.before[at])")
    assert await page.script("return document.activeElement === window.before[0]")
    await page.write("#selector", "temperature=20..28")
    await page.until("return document.querySelector('#ring .peer.touched') !== null")
    assert await page.script(f"return {peers}.every((peer, at) => peer === window.before[at])")


async def test_it_fits_a_phone_and_follows_the_systems_colours(page: Page) -> None:
    wide = "return document.documentElement.scrollWidth"
    colour = "return getComputedStyle(document.body).backgroundColor"
    emulate = "Emulation.setEmulatedMedia"
    try:
        await page.run(
            lambda chrome: chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        )
        assert await page.script(wide) == 375
        light = await page.script(colour)
        dark_media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        await page.run(lambda chrome: chrome.execute_cdp_cmd(emulate, dark_media))
        dark = await page.script(colour)
        assert dark != light
        await page.click("#theme")
        assert await page.script(colour) == light
        await page.click("#theme")
        await page.click("#theme")
        assert await page.script(colour) == dark
    finally:
        await page.run(
            lambda chrome: chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        )
        await page.run(lambda chrome: chrome.execute_cdp_cmd(emulate, {"features": []}))


async def test_nothing_is_loaded_from_elsewhere_and_nothing_inline_runs(page: Page) -> None:
    loaded = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    origin = await page.script("return location.origin")
    assert all(name.startswith(f"{origin}/") for name in await page.script(loaded))
    ran = await page.script(
        """
        try { document.body.innerHTML = "<b>x</b>"; return "markup"; } catch { /* refused */ }
        const script = document.createElement("script");
        try { script.textContent = "window.ran = true"; document.head.append(script); } catch {}
        return window.ran === true ? "script" : "nothing";
        """
    )
    assert ran == "nothing"
    await page.complaints()  # the refusals just provoked


async def test_one_question_that_failed_is_forgotten_when_the_next_is_answered(page: Page) -> None:
    """The stream of events was open all the time: nothing else would say that all is well."""
    await page.script(
        """
        const usual = window.fetch;
        window.fetch = (path, ...others) => {
          if (!path.startsWith("/ring")) return usual(path, ...others);
          window.fetch = usual;
          return Promise.reject(new TypeError("once"));
        };
        """
    )
    await page.shows("#state-text", "cannot be reached")
    await page.shows("#state-text", "live")


async def test_the_page_says_that_its_peer_is_gone_and_comes_back(browser: Chrome) -> None:
    page = Page(browser)
    async with meteor.Peer(space=SPACE) as peer:
        address = peer.address
        await page.open(address)
        await page.shows("#state-text", "live")
    await page.shows("#state-text", "reconnecting")
    async with meteor.Peer(space=SPACE, listen=address):
        await page.shows("#state-text", "live")
    await page.run(lambda chrome: chrome.get("about:blank"))
    await page.complaints()


TOKEN = "a-token-of-good-length"


@pytest.fixture
async def far_page(browser: Chrome) -> AsyncIterator[Page]:
    """The page of a peer with a token, as a browser on another machine has it."""
    far = {"headers": {"X-Forwarded-For": "192.0.2.7"}}  # as a proxy tells of another machine
    page = Page(browser)
    async with meteor.Peer(space=SPACE, rest=RestConfig(token=TOKEN)) as peer:
        await page.run(lambda chrome: chrome.execute_cdp_cmd("Network.enable", {}))
        await page.run(lambda chrome: chrome.execute_cdp_cmd("Network.setExtraHTTPHeaders", far))
        try:
            await page.open(peer.address)
            yield page
        finally:
            nothing: dict[str, dict[str, str]] = {"headers": {}}
            await page.run(
                lambda chrome: chrome.execute_cdp_cmd("Network.setExtraHTTPHeaders", nothing)
            )
            await page.script("sessionStorage.clear()")
            await page.run(lambda chrome: chrome.get("about:blank"))
            await page.complaints()


async def test_off_its_machine_the_page_only_looks_until_the_token_is_given(far_page: Page) -> None:
    page = far_page
    await page.shows("#post-note", "may only look")
    await page.click("#access")
    await page.write("#token", TOKEN)
    await page.click("#token-form .primary")
    await page.until("return !document.querySelector('#post-button').disabled")
    await page.write("#post-profile", "room=roof temperature=20")
    await page.click("#post-button")
    await page.shows("#post-note", "Stored for")


async def test_enter_behind_the_token_uses_it(far_page: Page) -> None:
    await far_page.click("#access")
    await far_page.write("#token", TOKEN + Keys.ENTER)
    await far_page.until("return !document.querySelector('#token-dialog').open")
    await far_page.until("return !document.querySelector('#post-button').disabled")


async def test_what_no_request_could_carry_is_no_token_and_harms_nothing(far_page: Page) -> None:
    """A quotation mark that came along with it kept the page from its peer until it was closed."""
    await far_page.click("#access")
    await far_page.write("#token", f"“{TOKEN}”")
    await far_page.click("#token-form .primary")
    await far_page.shows("#state-text", "no token")
    assert await far_page.script("return sessionStorage.length") == 0
    await far_page.write("#selector", "room=l*")
    await far_page.shows("#ask-note", "Concerns")


async def test_a_token_dialog_that_is_closed_changes_nothing(far_page: Page) -> None:
    await far_page.click("#access")
    await far_page.write("#token", TOKEN)
    await far_page.click("#token-close")
    await far_page.until("return !document.querySelector('#token-dialog').open")
    assert await far_page.script("return sessionStorage.length") == 0


EVENT_SOURCE = """
window.seen = [];
window.source = new EventSource("/events?select=" + encodeURIComponent("temperature>=40"));
for (const kind of ["open", "match", "reset", "error"]) {
  window.source.addEventListener(kind, (event) => {
    if (event.data !== undefined) window.seen.push([kind, event.lastEventId, event.data]);
    else if (kind === "error") window.seen.push(["break", "", ""]);
  });
}
"""
KINDS = "return window.seen.map(([kind]) => kind)"


async def test_a_browsers_event_source_resumes_after_a_break(
    page: Page, overlay: meteor.LocalOverlay
) -> None:
    peer = overlay.peers[0]
    await page.script(EVENT_SOURCE)
    await page.until("return window.seen.length === 1")
    await peer.store("room=roof temperature=41", b"one")
    await page.until("return window.seen.length === 2")
    break_streams(peer)
    await page.until("return window.seen.some(([kind]) => kind === 'break')")
    await peer.store("room=roof temperature=42", b"two")
    await page.until("return window.seen.filter(([kind]) => kind === 'match').length === 2")
    assert (await page.script(KINDS)).count("reset") == 0
    ids = await page.script("return window.seen.filter(s => s[0] === 'match').map(s => s[1])")
    assert len(set(ids)) == 2
    await page.script("window.source.close()")
    await page.complaints()


def break_streams(peer: meteor.Peer) -> None:
    """Cut every connection of HTTP to a peer, as a network does; its links stay."""
    runner = peer._transport._runner  # type: ignore[union-attr]
    for handler in list(runner.server.connections):
        request = handler._current_request
        if request is not None and request.path in ("/events", "/live"):
            asyncio.get_running_loop().call_soon(handler.transport.abort)
