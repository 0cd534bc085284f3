"""Measurements on real peer processes: the figures of the report's chapter 4.

Law of this package: it starts processes, asks and draws; nothing here is imported by peers.
"""
