"""Profiles: what messages are posted by, read and written in every form.

Law of this file: a profile is immutable and hashable; it is equal to another when both are
written alike, whatever space they were typed against.  Matching works on the typed tree, which is
built once: against the space given, or by form alone (report section 2.1.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated

import msgspec

from arms import matching, profile_terms
from arms.budget import Budget, OverBudget
from arms.builders import Plain, root_of
from arms.closed import Closed
from arms.containment import MOST_STEPS, contains
from arms.declarations import Space
from arms.errors import ProfileError
from arms.overlap import may_meet
from arms.plain_columns import PlainForm, plain_form_of_tree
from arms.profile_pack import pack_node, unpack_node
from arms.profile_xml import parse_profile_xml, write_profile_xml
from arms.selector import check_shape, check_size, parse_selector
from arms.selector_text import selector_text
from arms.tree import Node, build_tree
from arms.written import LIMITS, Element, canonical, count_attributes
from squid import Term

_LONGEST_TEXT = 2 * LIMITS.text_bytes
_LONGEST_DIGEST = 64

_SPACES = 16
_WRITE = msgspec.msgpack.Encoder()
_READ_ANY = msgspec.msgpack.Decoder()
_READ_PACKED = msgspec.msgpack.Decoder(
    tuple[
        Annotated[str, msgspec.Meta(max_length=_LONGEST_TEXT)],
        Annotated[bytes, msgspec.Meta(max_length=_LONGEST_DIGEST)],
        msgspec.Raw,
    ]
)
_READ = msgspec.msgpack.Decoder(Node)
"""Trees at rest: ours alone, so that nothing about them needs checking."""


class Profile:
    """What a message is about: a tree of attributes, in the role of a subject or a selector."""

    __slots__ = ("_digest", "_element", "_packed", "_rest", "_source", "_text", "_tree")

    def __init__(
        self,
        text: str,
        element: Element | None = None,
        *,
        source: str = "",
        tree: Node | None = None,
        digest: bytes = b"",
        rest: bytes = b"",
        packed: bytes = b"",
    ) -> None:
        self._text = text
        self._rest = rest
        self._packed = packed
        self._element = element
        self._source = source
        self._tree = tree
        self._digest = digest

    # -- reading

    @classmethod
    def parse(cls, text: str, space: Space | None = None) -> Profile:
        """The profile that a selector text stands for, typed when a space is given.

        Raises `SelectorError`, `LimitExceeded`, and against the space `TypeMismatch`; `TypeError`
        for what is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"text: a selector is text, not {type(text).__name__}")
        names = None if space is None else space.names
        return cls._from_element(parse_selector(text, dimensions=names), space, text)

    @classmethod
    def from_xml(cls, document: bytes, space: Space | None = None) -> Profile:
        """The profile of a `<profile>` element.

        Raises `ProfileError`, `LimitExceeded`, and against the space `TypeMismatch`; `TypeError`
        for what is no bytes.
        """
        if not isinstance(document, bytes | bytearray):
            raise TypeError(f"document: give bytes, not {type(document).__name__}")
        return cls.from_element(parse_profile_xml(document), space)

    @classmethod
    def from_mapping(cls, attributes: Mapping[str, Plain], space: Space | None = None) -> Profile:
        """The profile of names and plain values; nothing in a value is syntax.

        Raises `ProfileError`, `LimitExceeded`, and against the space `TypeMismatch`.
        """
        return cls.from_element(root_of(attributes), space)

    @classmethod
    def from_element(cls, root: Element, space: Space | None = None) -> Profile:
        """The profile of elements as written, for readers of other forms."""
        return cls._from_element(canonical(root), space)

    @classmethod
    def unpack(cls, packed: object) -> Profile:
        """The typed profile that `pack` gave; raises `ProfileError` for anything else."""
        if type(packed) is not list or len(packed) != 3:
            raise ProfileError("a packed profile is not a list of text, digest and tree")
        text, digest, tree = packed
        if type(text) is not str or len(text) > _LONGEST_TEXT:
            raise ProfileError("a packed profile's text is no text within the limits")
        if type(digest) is not bytes or len(digest) > _LONGEST_DIGEST:
            raise ProfileError("a packed profile's digest is no digest")
        return cls(text, tree=unpack_node(tree), digest=digest)

    @classmethod
    def resting(cls, packed: bytes) -> Profile:
        """The typed profile of these bytes, msgpack of what `pack` gave: kept as they are, and
        looked into when its tree is asked for.  For one's own journal: raises `ProfileError` at
        once only for what is no packed profile at all, and from `tree` for a tree that is none."""
        try:
            text, digest, tree = _READ_PACKED.decode(packed)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProfileError(f"a stored profile cannot be read: {error}") from error
        return cls(text, digest=_shared(digest), packed=bytes(tree))

    def plain_form(self) -> PlainForm | None:
        """What a profile at rest says, in the form in which many go into an index at once; None for
        every profile that is not plain."""
        return plain_form_of_tree(self._packed) if self._packed else None

    @classmethod
    def _from_element(cls, root: Element, space: Space | None, source: str = "") -> Profile:
        check_shape(root, LIMITS)
        text = selector_text(root)
        check_size(text, LIMITS)
        profile = cls(text, root, source=source)
        return profile if space is None else profile.typed(space)

    # -- writing

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Profile({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Profile) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[object, ...]:
        if not self._digest:
            return Profile.parse, (self._text,)
        return Profile.unpack, (self.pack(),)

    def to_xml(self) -> bytes:
        """The `<profile>` element, in UTF-8."""
        return write_profile_xml(self.element)

    def pack(self) -> list[object]:
        """The typed profile as nested lists of strings, integers, floats and bytes."""
        return [self._text, self._digest, pack_node(self.tree)]

    # -- meaning

    @property
    def element(self) -> Element:
        """The elements as written, under a nameless root."""
        if self._element is None:
            self._element = parse_selector(self._text)
        return self._element

    @property
    def tree(self) -> Node:
        """The elements with their meaning; raises `SelectorError` or `ProfileError` for an
        undeclared value that has none (`20-30`)."""
        if self._tree is not None:
            return self._tree
        if self._rest:
            return _READ.decode(self._rest)
        if self._packed:
            tree = unpack_node(_READ_ANY.decode(self._packed))
            self._rest, self._packed = _WRITE.encode(tree), b""  # quicker the next time
            return tree
        self._tree = build_tree(self.element, None, self._source)
        return self._tree

    def awake(self) -> Profile:
        """The same profile with its tree at hand."""
        if self._tree is not None:
            return self
        return Profile(self._text, source=self._source, tree=self.tree, digest=self._digest)

    def at_rest(self) -> Profile:
        """The same profile in a form for keeping many: about a third of the memory, and its tree
        is read anew whenever it is asked for."""
        if self._rest or self._packed:
            return self
        rest = _WRITE.encode(self.tree)
        return Profile(self._text, source=self._source, digest=_shared(self._digest), rest=rest)

    @property
    def is_typed(self) -> bool:
        """Whether a keyword space has decided the kinds."""
        return bool(self._digest)

    @property
    def attributes(self) -> int:
        """How many attributes it has: elements with a value, or without children."""
        return count_attributes(self.element)

    def typed(self, space: Space) -> Profile:
        """The same profile with the kinds that the space declares; itself when it has them.

        Raises `TypeMismatch`, `LimitExceeded` (`max_attributes`), and as `tree` does.
        """
        if self._digest == space.digest:
            return self
        tree = build_tree(self.element, space, self._source)
        return Profile(self._text, self.element, tree=tree, digest=space.digest)

    def matches(self, other: Profile) -> bool:
        """Whether this profile, as a selector, selects `other`, as a subject."""
        return matching.selects(self.tree, other.tree)

    def may_meet(self, other: Profile) -> bool:
        """Whether something could lie within both selectors; false only where two values at one
        place exclude each other."""
        return may_meet(self.tree, other.tree)

    def contains_profile(self, other: Profile, *, as_selector: bool = False) -> bool:
        """Whether `other` lies wholly within this selector: what a delete removes.

        `as_selector` says that `other` is an interest, whose alternatives must all lie within;
        never wrongly true, and false for one that it takes too long to tell of.
        """
        return contains(self.tree, other.tree, as_selector=as_selector)

    def keeps_to(self, selector: Profile) -> bool:
        """Whether this content lies within a selector, and has nothing else where that looks: what
        may be posted where only this is allowed.  `type=lamp type=fire` is within `type=lamp`, and
        does not keep to it; false where it takes too long to tell."""
        try:
            return Closed(Budget(MOST_STEPS)).keeps_to(selector.tree, self.tree)
        except OverBudget:
            return False

    def selector_terms(self, space: Space) -> dict[str, Term]:
        """What it asks of each dimension, as a selector; raises as `typed`."""
        return profile_terms.selector_terms(self.typed(space).tree, space)

    def subject_terms(self, space: Space) -> dict[str, Term]:
        """What it offers on each dimension, as a subject; raises as `typed`."""
        return profile_terms.subject_terms(self.typed(space).tree, space)


@lru_cache(maxsize=_SPACES)
def _shared(digest: bytes) -> bytes:
    """One object for all profiles of a space."""
    return digest


def profile(attributes: Mapping[str, Plain]) -> Profile:
    """The profile of names and plain values, which are taken literally.

    A text is a keyword, a number a number, None presence alone, a mapping what lies below, a
    sequence several siblings; `between`, `prefix` and `ANY` say more.  Raises `ProfileError`.
    """
    return Profile.from_mapping(attributes)
