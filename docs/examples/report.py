"""A script without an event loop: `python report.py HOST:PORT SELECTOR`.

It loads some readings, asks for what the selector says, and prints a line for each.  The answer is
complete, or `Incomplete` says which part of the ring did not speak.
"""

import sys

import meteor


def readings() -> list[meteor.Message]:
    """What a logger has collected: many messages at once are posted with `post_many`."""
    return [
        meteor.Message(
            {"type": "temperature", "temperature": 15 + hour, "humidity": 90 - 2 * hour},
            data=f"at {hour:02}:00",
            ttl=3600,
        )
        for hour in range(24)
    ]


def main(address: str, selector: str) -> int:
    with meteor.sync.connect(address) as client:
        for receipt in client.post_many(readings()):
            assert receipt.complete
        try:
            found = client.retrieve(selector).all()
        except meteor.Incomplete as error:
            print(f"a part is missing: {error}", file=sys.stderr)
            return 3
        for match in sorted(found, key=lambda match: match.text):
            print(match.text, match.profile)
        return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
