"""A profile lives as long as it was given, within what clocks and ways may add.

Law of this file: nobody sees a profile later than its receipt and its ttl by the slowest clock
(`Write.drift`); that it lives until its ttl is over by the fastest is what `sim.checkers.recall`
checks.
"""

from __future__ import annotations

from sim.history import History

SLACK_S = 1.0
"""What the ways of a profile may add to its life."""


def violations(history: History) -> list[str]:
    """Every profile that was seen when its time was over."""
    found = []
    for question in history.questions:
        for stem in question.found:
            write = history.writes.get(stem)
            if write is not None and write.expired_by(question.began_s, SLACK_S):
                found.append(
                    f"{stem}, stored at {write.began_s:.3f} s for {write.ttl_s:g} s, is in the "
                    f"answer to the question asked at {question.began_s:.3f} s"
                )
    for subscription in history.subscriptions:
        for at_s, stem in subscription.told:
            write = history.writes.get(stem)
            if write is not None and write.expired_by(subscription.fresh_s, SLACK_S):
                found.append(
                    f"{subscription.name}, posted at {subscription.began_s:.3f} s, was told at "
                    f"{at_s:.3f} s of {stem}, whose time was over"
                )
    return found
