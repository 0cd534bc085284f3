"""The same verbs, blocking (SPEC section 4).

Law of this package: no protocol; every call runs on a loop in a thread of its own.
"""
