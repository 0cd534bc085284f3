"""A rendezvous peer: the door, the point where data and interests meet, and what follows.

Law of this package: runs over any runtime, so that `sim` runs the very same code (WINLAB-TR-252,
chapters 2 and 3).
"""

__all__: list[str] = []
