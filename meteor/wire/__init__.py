"""What peers and clients say to each other: the messages, and their form as bytes.

Law of this package: values only; who says what when is decided elsewhere.  The format:
`docs/reference/wire.md`.
"""

__all__: list[str] = []
