"""The picture of the dashboard in the README: `python -m tests.meteor.dashboard.picture`.

A building's readings at sixteen peers, a query, an interest and what came while it was there, as
somebody at the page sees it.  Another file than `docs/dashboard.png` by its name as an argument;
`--dark` and `--phone` for a look at those.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

from selenium.webdriver import Chrome

import meteor
from tests.meteor.dashboard.conftest import new_browser
from tests.meteor.dashboard.page import Page

SEED = 1
ROOMS = (
    "atrium", "kitchen", "lab-1", "lab-2", "lab-3", "library", "office-12", "office-14",
    "office-31", "roof", "server-room", "workshop",
)  # fmt: skip
SPACE = meteor.KeywordSpace(
    "building",
    [
        meteor.Word("room", alphabet="-abcdefghijklmnopqrstuvwxyz"),
        meteor.Number("temperature", 10, 45, unit="°C"),
    ],
)
QUESTION = "temperature=21..27 room=k..s"
DESKTOP = {"width": 1440, "height": 1310, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 375, "height": 2600, "deviceScaleFactor": 1, "mobile": True}


def readings(count: int) -> list[meteor.Message]:
    """Of every room around its own temperature; the server room runs hot."""
    draw = random.Random(SEED)
    messages = []
    for number in range(count):
        room = draw.choice(ROOMS)
        warm = draw.gauss(33 if room == "server-room" else 23, 2.5)
        profile = f"room={room} temperature={min(max(warm, 10), 45):.1f} kind=reading"
        messages.append(meteor.Message(profile, data=f"{number} {room}"))
    return messages


def features(theme: str) -> list[dict[str, str]]:
    """What a browser tells a page of its owner's wishes: no motion, as this is a picture."""
    wishes = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
    return [{"name": name, "value": value} for name, value in wishes.items()]


async def show(browser: Chrome, file: Path, view: dict[str, object], theme: str) -> None:
    """Let a ring live for a moment, look at it, and keep the picture."""
    async with meteor.LocalOverlay(peers=4, space=SPACE, transport="websocket") as overlay:
        peer = overlay.peers[0]
        messages = readings(640)
        async for _ in peer.post_many(messages[:600]):
            pass
        for _ in range(12):
            await overlay.add_peer()  # where it halves the heaviest arc
        hot = await overlay.peers[5].notify_data("temperature>=30")
        for command, options in (
            ("setDeviceMetricsOverride", view),
            ("setScrollbarsHidden", {"hidden": True}),
            ("setEmulatedMedia", {"features": features(theme)}),
        ):
            browser.execute_cdp_cmd(f"Emulation.{command}", options)
        page = Page(browser)
        await page.open(peer.address)
        await page.write("#selector", QUESTION)
        await page.shows("#ask-note", "Concerns")
        await page.click("#ask-form .primary")
        await page.shows("#found-count", "matches")
        await page.until("return document.querySelector('#space .found-points circle') !== null")
        await page.click("#watch-button")
        await page.shows(".watch-state", "match")
        async for _ in peer.post_many(messages[600:], concurrency=1):
            pass
        await page.shows("#live", str(messages[-1].options["data"]))
        await page.script("document.activeElement.blur(); window.scrollTo(0, 0)")
        await page.run(lambda chrome: chrome.save_screenshot(str(file)))
        await hot.close()


def main(arguments: list[str]) -> None:
    """Take the picture."""
    files = [word for word in arguments if not word.startswith("--")]
    file = Path(files[0]) if files else Path(__file__).parents[3] / "docs" / "dashboard.png"
    view = PHONE if "--phone" in arguments else DESKTOP
    with tempfile.TemporaryDirectory() as profile:
        browser = new_browser(Path(profile))
        try:
            asyncio.run(show(browser, file, view, "dark" if "--dark" in arguments else "light"))
        finally:
            browser.quit()
    sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
