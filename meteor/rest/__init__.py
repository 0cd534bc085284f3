"""REST and live events on a peer's own port (SPEC section 7).

Law of this package: it translates, no more; every route parses, calls a verb, writes the answer.
"""
