"""Watch for alarms: `python alarm.py HOST:PORT ...`; give several peers, and one may go.

The interest lives in the overlay.  What was posted before this program began comes first; while it
runs no matching post is missed, also when its peer dies and the next one takes over.
"""

import asyncio
import sys

import meteor


def tell(error: Exception) -> None:
    """Of what nobody waits for: the link that broke, a renewal that failed."""
    print(f"trouble: {error}", file=sys.stderr, flush=True)


async def main(addresses: list[str]) -> None:
    connecting = meteor.connect(
        *addresses,
        on_disconnected=tell,
        on_reconnected=lambda address: print(f"at {address} now", file=sys.stderr, flush=True),
        on_error=tell,
    )
    async with connecting as client, client.notify_data("temperature>=80") as alarms:
        print("watching", flush=True)
        async for alarm in alarms:
            print(f"{alarm.profile}: {alarm.text}", flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
