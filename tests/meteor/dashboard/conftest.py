"""A headless Chromium, where there is one, and a small overlay for it to look at."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import meteor

ROOM = meteor.Word("room", alphabet="-abcdefghijklmnopqrstuvwxyz")
SPACE = meteor.KeywordSpace("building", [ROOM, meteor.Number("temperature", 10, 45)])
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1280,1600",
)  # fmt: skip


def new_browser(profile: Path) -> Chrome:
    """A browser that keeps what it must in a folder of its own."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return Chrome(options=options, service=Service(shutil.which("chromedriver")))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all tests, with a profile of its own; `make browser` installs it."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("no chromium with chromedriver on this machine")
    chrome = new_browser(tmp_path_factory.mktemp("chromium"))
    yield chrome
    chrome.quit()


@pytest.fixture
async def overlay() -> AsyncIterator[meteor.LocalOverlay]:
    """Five peers over sockets with some readings."""
    async with meteor.LocalOverlay(peers=5, space=SPACE, transport="websocket") as overlay:
        for number, room in enumerate(("atrium", "kitchen", "lab-east", "library", "workshop")):
            profile = f"room={room} temperature={18 + 3 * number}"
            await overlay.peers[0].store(profile, f"reading of {room}")
        yield overlay
