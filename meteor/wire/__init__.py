"""What peers and clients say to each other: the messages, and their form as bytes.

Law of this package: values, the reading of what came, and the first word of a link; who says what
else, and when, is decided elsewhere.  The format:
`docs/reference/wire.md`.
"""

__all__: list[str] = []
