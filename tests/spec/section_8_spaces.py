"""The specification, section 8, a space in TOML: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the example": (
        "squid/test_keyword_space.py::test_the_example_of_the_specification",
        "spec/test_section_8.py::test_the_space_of_the_specification_and_its_options",
    ),
    "bits a dimension, min(32, 160 // dimensions) where it is left out": (
        "squid/test_keyword_space.py::test_default_bits_fill_the_ring",
    ),
    "a dimension is an element's path in the profile": (
        "squid/test_keywords.py::test_alphabets_are_kept_in_order_and_names_may_be_paths",
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
    ),
    "word, number, choice and time": (
        "squid/test_coders.py::test_terms_of_every_kind_have_their_cells",
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
    ),
    "scale, unit, values": (
        "spec/test_section_8.py::test_the_space_of_the_specification_and_its_options",
        "squid/test_coders.py::test_log_cells_give_every_octave_as_much_room",
        "squid/test_keywords.py::test_choices_are_ranked_as_declared",
    ),
    "what is no space is refused by its entry": (
        "squid/test_keyword_space.py::test_toml_that_is_no_space_is_refused_by_its_entry",
    ),
}
