"""A lamp that measures only while somebody is interested: `python actuator.py HOST:PORT ...`.

It says what it would publish, every value open, and sleeps until an interest meets that: one that
is there already, or one that comes.  When the last interest is gone, it sleeps again.
"""

import asyncio
import itertools
import sys

import meteor


async def measure(client: meteor.Client, number: int) -> None:
    """Read the lamp and publish what it says."""
    reading = {"type": "lamp", "temperature": 20 + number % 60}
    await client.store(reading, json={"number": number}, ttl=60)


async def main(addresses: list[str]) -> None:
    async with (
        meteor.connect(*addresses) as client,
        client.notify_interest("type=lamp temperature=*") as watch,
    ):
        while True:
            print("off", flush=True)
            await watch.wait_active()
            print("on", flush=True)
            for number in itertools.count():
                await measure(client, number)
                try:
                    await watch.wait_idle(timeout=0.2)
                    break
                except meteor.Timeout:
                    continue  # somebody is interested still


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
