"""What must be true of a run: one checker a file, each a pure function that names what is not.

Law of this package: a checker gets a snapshot or a `sim.history.History` and returns texts, none
when all is well; it shares no code with the protocol and never looks at a peer.  Each is shown to
fail on a planted fault in the tests.
"""

from sim.checkers import convergence as convergence
from sim.checkers import copies as copies
from sim.checkers import deletion as deletion
from sim.checkers import durability as durability
from sim.checkers import holders as holders
from sim.checkers import lifetimes as lifetimes
from sim.checkers import moves as moves
from sim.checkers import notification as notification
from sim.checkers import ownership as ownership
from sim.checkers import recall as recall
from sim.checkers import watching as watching
from sim.checkers import zave as zave

__all__ = [
    "zave", "convergence", "holders", "ownership", "copies",
    "durability", "deletion", "recall", "lifetimes", "moves", "notification", "watching",
]  # fmt: skip
