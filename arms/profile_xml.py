"""Profiles in XML, as the report's figures 3.5 and 3.6 write them.

Law of this file: lxml with one hardened parser (`arms.message_xml`); a closed set of attributes;
siblings are never merged.  Text between elements, comments and instructions are ignored
(SPEC section 3; rule 30).
"""

from __future__ import annotations

from arms.written import Element


def parse_profile_xml(document: bytes) -> Element:
    raise AssertionError


def write_profile_xml(root: Element) -> bytes:
    raise AssertionError
