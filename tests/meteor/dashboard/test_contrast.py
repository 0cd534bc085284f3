"""Every pair of colours that carries text on the dashboard can be read: WCAG 2.1, 4.5 to 1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STYLE = (Path(__file__).parents[3] / "meteor" / "dashboard" / "style.css").read_text()
PAIRS = [
    ("ink", "card"), ("ink", "paper"), ("ink", "soft"), ("muted", "card"), ("muted", "paper"),
    ("muted", "soft"), ("accent", "card"), ("accent", "paper"), ("accent", "accent-soft"),
    ("accent-ink", "accent"), ("teal", "card"), ("teal", "teal-soft"), ("good", "card"),
    ("bad", "card"), ("bad", "paper"), ("ink", "pressed"),
]  # fmt: skip


def colours(rule: str) -> dict[str, str]:
    """The custom colours that a rule sets."""
    block = STYLE[STYLE.index(rule) :].partition("}")[0]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})\b", block))


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("front", "back"), PAIRS, ids="-".join)
@pytest.mark.parametrize("rule", [":root {", ':root[data-theme="dark"] {'], ids=["light", "dark"])
def test_text_stands_out(rule: str, front: str, back: str) -> None:
    known = colours(":root {") | colours(rule)
    assert contrast(known[front], known[back]) >= 4.5


def test_dark_by_choice_is_dark_by_system() -> None:
    assert colours(':root[data-theme="dark"] {') == colours(':root[data-theme="system"], :root:not')


def test_the_measure_is_that_of_the_standard() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777", "#fff") == pytest.approx(4.48, abs=0.01)
