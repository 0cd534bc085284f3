"""What a peer has acknowledged, on disk or in memory, and what is done when a file is damaged.

Law of this package: knows bytes, keys and files, and nothing of what the records mean.
`docs/internals/journal.md`.
"""

__all__: list[str] = []
