"""A client of the overlay: its session with a peer, its verbs, its answers and its interests.

Law of this package: knows messages, never a peer's inside.
"""

__all__: list[str] = []
