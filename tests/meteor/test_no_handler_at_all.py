"""A handler that cannot be called is said before anything is posted or asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.meteor.fake_peer import FakeOverlay


@pytest.mark.parametrize("verb", ["notify_data", "notify_interest", "attach"])
@pytest.mark.parametrize("handler", ["print", 5, []])
def test_what_cannot_be_called_is_no_handler(overlay: FakeOverlay, verb: str, handler: Any) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        what = "type=t temperature=*"
        if verb == "attach":
            what = await (await client.notify_data("type=t temperature=*")).detach()
        asked = len(overlay.peers[0].requests)
        notify: Callable[..., Any] = getattr(client, verb)
        with pytest.raises(TypeError, match="handler"):
            await notify(what, handler=handler)
        assert len(overlay.peers[0].requests) == asked

    overlay.run(scenario())


@pytest.mark.parametrize("options", [{"queue": 0}, {"overflow": "drop"}])
def test_a_queue_that_is_none_is_said_before_an_interest_is_sought(
    overlay: FakeOverlay, options: dict[str, Any]
) -> None:
    async def scenario() -> None:
        client = await overlay.new_client().open()
        id = await (await client.notify_data("temperature>=80")).detach()
        asked = len(overlay.peers[0].requests)
        with pytest.raises(ValueError, match=next(iter(options))):
            await client.attach(id, **options)
        assert len(overlay.peers[0].requests) == asked

    overlay.run(scenario())
