"""Words as skewed as those of English, without a dictionary to ship.

Law of this file: one seed gives one list.  A word is a chain of letters, each drawn from those that
follow the last one most often in an English dictionary of 73,000 words.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate
from typing import Final

_END: Final = "$"
_FOLLOWERS: Final = {
    "^": "scpdbamrtfeihglwounv", "a": "tnrlscmd$bipguy", "b": "leaoirubs$y", "c": "oahektirul$cs",
    "d": "$eioasruldgy", "e": "rsd$nlatcmepxv", "f": "ioeluafrt$y", "g": "$earilhousgn",
    "h": "eaio$utry", "i": "nsectolamdgrvz", "j": "auoei", "k": "ei$salny", "l": "eialyo$ustdm",
    "m": "aeiop$bums", "n": "gt$esdiaconk", "o": "nrulmstopcwgdv", "p": "eraoilhpust$",
    "q": "u", "r": "eia$ostudrmyn", "s": "$tesihcapuol", "t": "ie$aroshtuy", "u": "nsrltmceaipb",
    "v": "eiaou", "w": "aeiohns$r", "x": "ipet$ca", "y": "$sieapmnl", "z": "eiaz$oly",
}  # fmt: skip
"""Letter → what follows it, the likeliest first; `^` begins a word and `$` ends one."""
_SHARES: Final = tuple(accumulate(1 / rank for rank in range(1, 21)))
"""A follower's share falls with its rank."""
LETTERS_MIN, LETTERS_MAX = 3, 14


def vocabulary(count: int, seed: int) -> list[str]:
    """So many distinct words, in the order in which they were drawn."""
    stream = random.Random(f"vocabulary {seed}")
    words: dict[str, None] = {}
    while len(words) < count:
        words[_word(stream)] = None
    return list(words)


def _word(stream: random.Random) -> str:
    word, letter = "", "^"
    while len(word) < LETTERS_MAX:
        followers = _FOLLOWERS[letter]
        drawn = stream.random() * _SHARES[len(followers) - 1]
        letter = followers[bisect_right(_SHARES, drawn)]
        if letter != _END:
            word += letter
        elif len(word) >= LETTERS_MIN:
            break
        else:
            letter = word[-1]
    return word
