"""The dashboard as somebody at a keyboard has it: waiting for what is seen, never for time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_S = 30.0


class Page:
    """One open dashboard; every step runs in a thread, as the peers live on this loop."""

    def __init__(self, browser: Chrome) -> None:
        self._browser = browser

    async def open(self, address: str) -> None:
        """Load the page and wait until it has shown everything once, and looks on."""
        await self.run(lambda chrome: chrome.get(f"http://{address}/"))
        await self.until("return document.documentElement.dataset.ready === 'true'")
        await self.shows("#state-text", "live")

    async def run(self, step: Callable[[Chrome], Any]) -> Any:
        """One step."""
        return await asyncio.to_thread(step, self._browser)

    async def script(self, text: str, *arguments: Any) -> Any:
        """What a script in the page returns."""
        return await self.run(lambda chrome: chrome.execute_script(text, *arguments))

    async def until(self, text: str, *arguments: Any) -> Any:
        """Wait until a script returns something true."""
        wait = WebDriverWait(self._browser, PATIENCE_S, poll_frequency=0.05)
        return await self.run(
            lambda _: wait.until(lambda chrome: chrome.execute_script(text, *arguments))
        )

    async def shows(self, selector: str, text: str) -> None:
        """Wait until an element shows a text."""
        await self.until(
            "return document.querySelector(arguments[0])?.textContent.includes(arguments[1])",
            selector,
            text,
        )

    async def text(self, selector: str) -> str:
        """What an element shows."""
        return str((await self._find(selector)).text)

    async def write(self, selector: str, text: str) -> None:
        """Type into a field that is cleared before."""
        field = await self._find(selector)
        await self.run(lambda _: (field.clear(), field.send_keys(text)))

    async def click(self, selector: str) -> None:
        """Click."""
        element = await self._find(selector)
        await self.run(lambda _: element.click())

    async def press(self, key: str) -> None:
        """Press a key where the focus is: no element is named, as a keyboard names none."""
        await self.run(lambda chrome: ActionChains(chrome, 0).send_keys(key).perform())

    async def focused(self) -> str:
        """What has the focus: its id, or its text."""
        found = "const a = document.activeElement; return a.id || a.textContent.trim();"
        return str(await self.script(found))

    async def complaints(self) -> list[str]:
        """What the browser's console says that is worse than a note."""
        log = await self.run(lambda chrome: chrome.get_log("browser"))
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    async def count(self, selector: str) -> int:
        """How many elements there are."""
        found = "return document.querySelectorAll(arguments[0]).length"
        return int(await self.script(found, selector))

    async def _find(self, selector: str) -> WebElement:
        element: WebElement = await self.run(
            lambda chrome: chrome.find_element(By.CSS_SELECTOR, selector)
        )
        return element


__all__ = ["Keys", "Page"]
