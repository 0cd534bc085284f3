"""What tests of clients say again and again."""

from __future__ import annotations

import meteor

HOT = "type=t temperature=99"


async def settle(client: meteor.Client, seconds: float = 0.1) -> None:
    await client._runtime.sleep(seconds)


async def texts_of(answer: meteor.Answer, received: list[str]) -> None:
    """Iterate to the end, or to the error that the end is."""
    async for match in answer:
        received.append(match.text)  # noqa: PERF401 - an error must leave what came before


async def store_many(client: meteor.Client, count: int) -> None:
    for number in range(count):
        await client.store(f"type=temperature temperature={number}", str(number))
