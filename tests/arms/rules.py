"""The 37 rules of matching as data: a selector, a subject, and whether they match.

Every row holds in the text form and in XML, whichever of the two profiles arrives first, at one
peer and over a whole overlay.  Rows that only show on a declared dimension use `RULES_SPACE`, in
which all rows may be typed.  Rules that are no pair of profiles (2, 27-31, 33-37) have tests of
their own in test_rules.py; what is refused stands in REFUSED.
"""

from __future__ import annotations

from dataclasses import dataclass

from squid import Choice, KeywordSpace, Number, Time, Word

RULES_SPACE = KeywordSpace(
    "rules",
    [
        Word("word"),
        Number("number", -100, 1000),
        Number("memory", 1, 4096, unit="MB"),
        Choice("level", ("low", "middle", "high")),
        Time("when", "2000-01-01T00:00:00Z", "2040-01-01T00:00:00Z"),
    ],
    bits=12,
)


@dataclass(frozen=True)
class Rule:
    """One row: the rule's number in the matching table, two selector texts, the verdict."""

    number: int
    selector: str
    subject: str
    expected: bool
    declared: bool = False
    """Whether it needs the space."""


FIGURE_3_5 = "temperature>=80(unit=Fa* error<=0.1) wind(degree=* direction=*) alarm"
FIGURE_3_6 = (
    "temperature=110(unit=Fahrenheit error<=0.01) wind(speed=20MPH direction=northwest) alarm"
)

RULES = (
    # 1 overlap on both sides
    Rule(1, "t=20..30", "t=25..40", True),
    Rule(1, "t=20..30", "t=31..40", False),
    Rule(1, "w=Fa*", "w=Fahr*", True),
    Rule(1, "w=Fahr*", "w=Fa*", True),
    Rule(1, "w=Fa*", "w=Ce*", False),
    Rule(1, "error<=0.1", "error<=0.01", True),
    Rule(1, "number=20..30", "number=25..40", True, True),
    Rule(1, "word=m..p", "word=ne*", True, True),
    # 3 closed ends; strict ones move by one place
    Rule(3, "t>=80", "t<=80", True),
    Rule(3, "t=20..30", "t=30", True),
    Rule(3, "t>80", "t=80", False),
    Rule(3, "t>80", "t=80.00000000000002", True),
    Rule(3, "t<80", "t=80", False),
    Rule(3, "t>20 t<30", "t=30", False),
    Rule(3, "t>20 t<30", "t=29.9", True),
    Rule(3, "when>2004-04-01T00:00:00Z", "when=2004-04-01T00:00:00Z", False, True),
    Rule(3, "when>2004-04-01T00:00:00Z", "when=2004-04-01T00:00:00.001Z", True, True),
    # 4, 5 what is missing
    Rule(4, "a=1", "b=1", False),
    Rule(4, "a=*", "b=1", False),
    Rule(4, "a", "b=1", False),
    Rule(4, "number=*", "word=a", False, True),
    Rule(5, "a=1", "a=1 b=2", True),
    Rule(5, "a=1", "a=1(b=2 c) d", True),
    # 6 the report's samples
    Rule(6, FIGURE_3_5, FIGURE_3_6, False),
    Rule(6, FIGURE_3_5.replace("degree", "speed"), FIGURE_3_6, True),
    # 7-9 presence and the wildcard
    Rule(7, "alarm", "alarm", True),
    Rule(7, "alarm", "alarm=on", True),
    Rule(7, "wind", "wind(speed=3)", True),
    Rule(8, "alarm=*", "alarm", False),
    Rule(8, "word=*", "word", False, True),
    Rule(9, "t=5", "t=*", True),
    Rule(9, "t=Fa*", "t=*", True),
    Rule(9, "t=*", "t=*", True),
    Rule(9, "t", "t=*", True),
    Rule(9, "number=5", "number=*", True, True),
    # 10-12 numbers and keywords
    Rule(10, "t=110", 't="110"', False),
    Rule(10, 't="110"', 't="110"', True),
    Rule(10, "t=110", "t=1.1e2", True),
    Rule(10, "t=20", "t=20MPH", False),
    Rule(10, "t=20mph", "t=20MPH", True),
    Rule(10, "t=1..200", 't="110"', False),
    Rule(10, 't="*"', "t=110", False),
    Rule(10, 't="*"', "t=abc", True),
    Rule(11, "t=110", "t=110.0", True),
    Rule(11, "t=-0", "t=0", True),
    Rule(11, "t=9007199254740993", "t=9007199254740992", True),
    Rule(11, 't="9007199254740993"', 't="9007199254740992"', False),
    Rule(12, "t=1*", "t=110", False),
    Rule(12, "t=1*", 't="110"', True),
    Rule(12, "word=1*", "word=110", True, True),
    # 13, 14 keywords in order, whatever their case and composition
    Rule(13, "w>=m", "w=Zebra", True),
    Rule(13, "w>=m", "w=apple", False),
    Rule(13, "w=k..n", "w=lamp", True),
    Rule(13, 'w="new  york"', 'w=" New York "', True),
    Rule(13, "w=caf\u00e9", 'w="cafe\u0301"', True),
    Rule(13, "w=caf\u00e9", "w=cafe", False),
    Rule(13, "word=a..\u00f6", "word=z\u00fcrich", True, True),
    Rule(14, "T=1", "t=1", False),
    Rule(14, "w=FAHRENHEIT", "w=fahrenheit", True),
    Rule(14, "w=STRASSE", "w=stra\u00dfe", True),
    # 15, 16 hyphens and units: the space decides
    Rule(15, "number=20-30", "number=25", True, True),
    Rule(15, "number=20-30", "number=31", False, True),
    Rule(15, "number=-5--3", "number=-4", True, True),
    Rule(15, "number=10-*", "number=700", True, True),
    Rule(15, "number=*-10", "number=11", False, True),
    Rule(15, "word=20-30", 'word="20-30"', True, True),
    Rule(15, "word=20-30", "word=25", False, True),
    Rule(15, "word=10-*", "word=10-x", True, True),
    Rule(15, "d=2004-04-01", 'd="2004-04-01"', True),
    Rule(15, "t=20..30", "t=25", True),
    Rule(15, "t=-5..-3", "t=-4", True),
    Rule(15, 't="20-30"', 't="20-30"', True),
    Rule(16, "memory=256-512MB", "memory=300", True, True),
    Rule(16, "memory=256-512MB", "memory=0.5GB", True, True),
    Rule(16, "memory=256-512MB", "memory=600MB", False, True),
    Rule(16, "memory=10MB-*", "memory=11", True, True),
    Rule(16, "memory>=1GB", "memory=1000MB", True, True),
    Rule(16, "level=middle..high", "level=high", True, True),
    Rule(16, "level>=middle", "level=low", False, True),
    # 17 a unit as a child is just an attribute
    Rule(17, "t(unit=Fa*)", "t=110(unit=Fahrenheit)", True),
    Rule(17, "t=110(unit=F)", "t=43.3(unit=C)", False),
    # 19, 20 literal stars, the empty keyword
    Rule(19, r"t=F\*t", r't="F\*t"', True),
    Rule(19, r"t=F\*t", "t=Fat", False),
    Rule(20, 't=""', 't=""', True),
    Rule(20, "t=*", 't=""', True),
    Rule(20, 't=""', "t", False),
    Rule(20, 't=""', "t=a", False),
    # 21, 22 repeated siblings: one instance meets the element and all below it
    Rule(21, "s(type=a value=1)", "s(type=a value=2) s(type=b value=1)", False),
    Rule(21, "s(type=a value=1)", "s(type=b value=2) s(type=a value=1)", True),
    Rule(21, "s=5", "s=1 s=9", False),
    Rule(21, "s=1", "s=1 s=9", True),
    Rule(21, "number=5", "number=1 number=9", False, True),
    Rule(22, "t=10.. t=..20", "t=5 t=25", True),
    Rule(22, "t=10..20", "t=5 t=25", False),
    Rule(22, "t>=10 t<=20", "t=5 t=25", False),
    Rule(22, "s(type=a) s(type=b)", "s(type=a) s(type=b)", True),
    Rule(22, "s/type=a s/place=x", "s(type=a) s(place=x)", False),
    # 23-25 connectives
    Rule(23, "a=1 | b(c=2)", "b(c=2)", True),
    Rule(23, "a=1 | b(c=2)", "b(c=3)", False),
    Rule(23, "a(b=1 | c=2)", "a(c=2)", True),
    Rule(23, "a(b=1 | c=2) d", "a(c=2)", False),
    Rule(24, "a=1", "a=1 | b=2", True),
    Rule(24, "a=1 b=2", "a=1 | b=2", True),
    Rule(24, "a=1", "(a=1 | b=2)", True),
    Rule(25, "(a=1 | b=2) c=3", "b=2 c=3", True),
    Rule(25, "(a=1 | b=2) c=3", "a=1", False),
    Rule(25, "a=1 | (b=2 c=3)", "b=2", False),
    # 26 descendants
    Rule(26, "//speed=20", "wind(speed=20)", True),
    Rule(26, "//speed=20", "speed=20", True),
    Rule(26, "/".join("abc") + "=1", "a(b(c=1))", True),
    Rule(26, "wind//x=1", "wind(a(x=1))", True),
    Rule(26, "wind//x=1", "x=1 wind(a=1)", False),
    Rule(26, "//s(type=a value=1)", "room(s(type=a value=2) s(type=b value=1))", False),
    Rule(26, "//s(type=a value=1)", "room(s(type=a value=2) s(type=a value=1))", True),
    Rule(26, "//word=abc", "word=abc", True, True),
    # 32 order
    Rule(32, "a=1 b=2", "b=2 a=1", True),
    Rule(32, "a(b=1 c=2)", "x a(c=2 b=1)", True),
)  # fmt: skip

RULES_IN_XML = (
    (1, '<t min="20" max="30"/>', '<t min="25" max="40"/>', True),
    (3, '<t operator=">=" value="80"/>', '<t operator="&lt;=" value="80"/>', True),
    (3, '<t operator="gt" value="80"/>', '<t value="80"/>', False),
    (4, '<a value="*"/>', '<b value="1"/>', False),
    (5, '<a value="1"/>', '<a value="1"/><b value="2"/>', True),
    (7, "<alarm/>", '<alarm value="on"/>', True),
    (8, '<alarm value="*"/>', "<alarm/>", False),
    (9, '<t value="Fa*"/>', '<t value="*"/>', True),
    (10, '<t value="110"/>', '<t value="110" type="word"/>', False),
    (10, '<t value="110" type="number"/>', '<t value="1.1e2"/>', True),
    (11, '<t value="110"/>', '<t value="110.0"/>', True),
    (12, '<t value="1*"/>', '<t value="110"/>', False),
    (13, '<w value="new  york"/>', '<w value="New York"/>', True),
    (14, '<T value="1"/>', '<t value="1"/>', False),
    (15, '<t value="20..30"/>', '<t value="25"/>', True),
    (15, '<t min="20" max="30"/>', '<t value="25"/>', True),
    (15, '<number value="20-30"/>', '<number value="25"/>', True),
    (15, '<t value="20-30" type="word"/>', '<t value="20-30" type="word"/>', True),
    (16, '<memory value="256-512MB"/>', '<memory value="0.3GB"/>', True),
    (17, '<t><unit value="Fa*"/></t>', '<t value="110"><unit value="Fahrenheit"/></t>', True),
    (19, r'<t value="F\*t"/>', r'<t value="F\*t"/>', True),
    (20, '<t value="*"/>', '<t value=""/>', True),
    (20, '<t value=""/>', "<t/>", False),
    (21, '<s><type value="a"/><value value="1"/></s>',
     '<s><type value="a"/></s><s><value value="1"/></s>', False),
    (22, '<t operator=">=" value="10"/><t operator="&lt;=" value="20"/>',
     '<t value="5"/><t value="25"/>', True),
    (22, '<t operator=">" value="10"/><t operator="&lt;" value="20"/>',
     '<t value="5"/><t value="25"/>', True),
    (23, '<a connective="or"><b value="1"/><c value="2"/></a>', '<a><c value="2"/></a>', True),
    (24, '<a value="1"/><b value="2"/>',
     '<_ connective="or"><a value="1"/><b value="2"/></_>', True),
    (25, '<_ connective="or"><a value="1"/><b value="2"/></_><c value="3"/>',
     '<b value="2"/><c value="3"/>', True),
    (26, '<speed axis="descendant" value="20"/>', '<wind><speed value="20"/></wind>', True),
    (26, '<speed axis="child" value="20"/>', '<wind><speed value="20"/></wind>', False),
    (30, '<a value="1"/>', '<!-- b --><?c d?>words<a value="1">more<!-- e --></a>', True),
    (32, '<a value="1"/><b value="2"/>', '<b value="2"/><a value="1"/>', True),
)  # fmt: skip

REFUSED = (
    (11, "t=1e999"),
    (12, "number=1*"),
    (15, "t=20-30"),
    (15, "t=30..20"),
    (15, "number=30-20"),
    (15, "t=30-20"),
    (16, "speed=10Mbps-*"),
    (16, "number>=hot"),
    (16, 'number="20"'),
    (16, "memory=5kg"),
    (16, "level=extreme"),
    (18, "t>=8*"),
    (19, "t=F*t"),
    (19, "t=*heit"),
    (25, "a=1 b=2 | c=3"),
    (27, ""),
    (27, "  "),
    (28, "not"),
    (28, "not(a=1)"),
    (28, "a!=1"),
)
