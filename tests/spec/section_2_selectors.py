"""The specification, section 2, the text of selectors: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the grammar": ("arms/test_selector_grammar.py::test_the_parser_takes_what_the_grammar_takes",),
    "one connective a level; two are refused": (
        "arms/test_selector.py::test_levels",
        "arms/test_selector.py::test_a_refusal_points_at_the_cause_and_says_the_cure",
    ),
    "no blank before a child's parenthesis; bare parentheses are an anonymous group": (
        "arms/test_selector.py::test_levels",
    ),
    "names are case-sensitive": (
        "spec/test_section_2.py::test_names_are_case_sensitive_and_values_are_not",
    ),
    "a value is *, a range, a partial or a scalar, tried in this order": (
        "arms/test_selector.py::test_derived_example",
    ),
    "what is quoted is a keyword; a star inside quotes is partial, an escaped one is itself": (
        "arms/test_selector.py::test_derived_example",
        "arms/test_selector.py::test_against_a_declaration",
    ),
    "80.. and ..80 are >=80 and <=80": ("arms/test_selector.py::test_derived_example",),
    "only comparisons merge on one path; two = are two siblings; an empty merger is an error": (
        "arms/test_selector.py::test_on_one_path_only_comparisons_merge",
        "arms/test_selector.py::test_a_refusal_points_at_the_cause_and_says_the_cure",
    ),
    "prefixes merge, parenthesised elements never": (
        "arms/test_selector.py::test_prefixes_merge_and_parentheses_do_not",
    ),
    "XML never merges": ("arms/test_selector.py::test_in_xml_two_comparisons_stay_two",),
    "what is refused has caret, reason and cure": (
        "arms/test_selector.py::test_a_refusal_points_at_the_cause_and_says_the_cure",
        "arms/test_selector.py::test_strict_comparisons_of_keywords_are_refused_with_caret_and_cure",
        "arms/test_selector.py::test_a_caret_in_a_long_text_stays_under_its_character",
    ),
    "parse(str(p)) == p": (
        "arms/test_selector.py::test_text_round_trip",
        "arms/test_selector.py::test_profiles_are_equal_exactly_when_written_alike",
        "arms/test_selector.py::test_any_text_is_parsed_or_refused",
    ),
    "4 KiB, depth 16, 64 elements": (
        "arms/test_selector.py::test_limits",
        "arms/test_selector.py::test_at_the_limits",
    ),
    "the space's max_attributes: elements with a value, or without children": (
        "arms/test_rules.py::test_rule_29_limits",
        "spec/test_section_2.py::test_an_attribute_is_an_element_with_a_value_or_without_children",
    ),
    "the space decides; parse keeps what depends on it as written, and == compares that": (
        "arms/test_selector.py::test_the_space_decides",
        "arms/test_selector.py::test_equality_is_of_what_is_written",
        "arms/test_selector.py::test_a_hyphen_on_an_undeclared_attribute_has_a_hint",
    ),
    "a declared word is the text as written, compared by its normal form": (
        "squid/test_coders.py::test_normal_forms",
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
    ),
    "a declared number or time that does not parse, or is quoted, is a TypeMismatch": (
        "arms/test_selector.py::test_against_a_declaration",
        "squid/test_keywords.py::test_what_is_no_moment_is_a_mismatch",
        "spec/test_section_2.py::test_what_does_not_fit_its_declaration_is_a_type_mismatch",
    ),
    "out of bounds is legal and clamps for routing only": (
        "squid/test_coders.py::test_numbers_are_monotone_and_the_ends_clamp",
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
    ),
    "a declared unit is converted or bare; the report's (256-512MB, *, 10Mbps-*) runs": (
        "squid/test_keywords.py::test_quantities_in_the_declared_unit",
        "meteor/test_spec_selectors.py::test_the_reports_resource_query_runs_with_its_units",
    ),
    "what is undeclared goes by its form; a hyphen range there is refused with a hint": (
        "arms/test_selector.py::test_derived_example",
        "arms/test_selector.py::test_a_hyphen_on_an_undeclared_attribute_has_a_hint",
    ),
    "the tuple form in the space's order, a comma also behind a single one": (
        "arms/test_selector.py::test_the_tuple_form",
    ),
    "the derived examples": (
        "arms/test_selector.py::test_derived_example",
        "arms/test_selector.py::test_the_space_decides",
        "spec/test_section_2.py::test_the_derived_examples_as_they_are_listed",
    ),
    "a mapping instead of an f-string; plain values are literal": (
        "arms/test_builders.py::test_the_specs_example",
        "arms/test_builders.py::test_plain_values_are_literal",
        "meteor/test_spec_selectors.py::test_mappings_say_the_same_without_quoting",
    ),
    "every form finds over real peers what it says, whichever comes first": (
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
        "meteor/test_spec_selectors.py::test_an_interest_is_told_of_what_a_retrieve_finds",
    ),
}
