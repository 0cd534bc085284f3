"""What is no handler of the blocking side is said before anything is posted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor


async def _coroutine(_: meteor.Notification) -> None:
    """What nobody would await."""


@pytest.mark.parametrize("handler", [_coroutine, "print"])
@pytest.mark.parametrize("verb", ["notify_data", "notify_interest", "attach"])
def test_what_is_no_plain_function_is_said_before_anything_is_posted(
    client: meteor.sync.Client, verb: str, handler: Any
) -> None:
    what = "type=t temperature=*"
    if verb == "attach":
        what = client.notify_data("type=t temperature=*").detach()
    before = len(client._verbs._session.streams)
    notify: Callable[..., Any] = getattr(client, verb)
    with pytest.raises(TypeError, match="handler"):
        notify(what, handler=handler)
    assert len(client._verbs._session.streams) == before
