"""Meteor beside what users would pick instead, each row in one run.

Law of this package: every system runs in processes of its own and does what its users would write;
systems take turns, round after round, so that all meet the same machine; nothing is asserted about
time, and what is not installed is said to be so.
"""
