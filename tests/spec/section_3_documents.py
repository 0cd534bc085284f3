"""The specification, section 3, XML and JSON: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the message of the example, every field of it": (
        "arms/test_message_xml.py::test_every_field",
        "spec/test_section_3.py::test_the_message_of_the_specification_is_read_as_it_stands",
    ),
    "no namespace, UTF-8, order free": (
        "arms/test_rules.py::test_rule_31_namespaces_are_refused",
        "arms/test_hostile_xml.py::test_attack_is_refused",
        "arms/test_message_xml.py::test_order_and_text_between_elements_do_not_matter",
    ),
    "without an id the peer gives one; without a ttl it gives its default": (
        "spec/test_section_3.py::test_what_a_message_leaves_out_the_peer_gives",
    ),
    "other attributes of the credentials are kept, unverified": (
        "arms/test_message_xml.py::test_every_field",
    ),
    "ttl is a whole number of milliseconds": ("arms/test_message_xml.py::test_malformed_messages",),
    "the action is a name, or name(reply address)": (
        "arms/test_builders.py::test_actions_with_an_address",
        "arms/test_builders.py::test_what_is_no_action",
    ),
    "a result with what is missing and its matches": (
        "arms/test_message_xml.py::test_a_result",
        "arms/test_message_xml.py::test_results_keep_their_matches_apart",
        "meteor/rest/test_rest_routes.py::test_a_retrieving_message_gets_its_matches",
    ),
    "the results of an application's action": (
        "meteor/rest/test_rest_actions.py::test_the_same_in_xml",
        "meteor/rest/test_rest_actions.py::test_what_did_not_run_is_missing_and_says_why",
    ),
    "a notification of kind match, appeared or gone": (
        "arms/test_message_xml.py::test_a_notification",
    ),
    "a closed set of attributes; value beside min or max, or anything else, is refused": (
        "arms/test_hostile_xml.py::test_the_closed_set_of_attributes",
        "arms/test_rules.py::test_rule_30_other_attributes_are_refused",
        "arms/test_rules.py::test_rule_in_xml",
    ),
    "a value is that of a selector without quotes; type=word is quoted; _ is a group": (
        "arms/test_rules.py::test_rule_in_xml",
        "arms/test_rules.py::test_rule_through_xml",
        "arms/test_selector.py::test_xml_round_trip",
    ),
    "<data> is accepted for <payload>": (
        "arms/test_message_xml.py::test_payload_forms",
        "arms/test_message_xml.py::test_the_reports_data",
    ),
    "a payload with elements is kept byte for byte; what is not UTF-8 is base64": (
        "arms/test_message_xml.py::test_payloads_come_back_byte_for_byte",
        "arms/test_message_xml.py::test_payload_forms",
    ),
    "comments, instructions and text elsewhere are ignored; a DOCTYPE is refused": (
        "arms/test_message_xml.py::test_payload_forms",
        "arms/test_message_xml.py::test_order_and_text_between_elements_do_not_matter",
        "arms/test_hostile_xml.py::test_attack_is_refused",
    ),
    "the slips of the report's figures; they match with speed for degree": (
        "arms/test_message_xml.py::test_the_slips_of_the_figures_are_refused",
        "arms/test_message_xml.py::test_the_reports_interest",
        "arms/test_message_xml.py::test_the_samples_match_once_degree_is_read_as_speed",
    ),
    "a reply address is contacted only where the policy allows it": (
        "meteor/security/test_reply_addresses.py::test_a_reply_address_gets_results_and_notifications",
        "meteor/security/test_reply_addresses.py::test_what_no_address_takes_is_dropped_and_counted",
        "meteor/security/test_policy.py::test_reply_addresses",
        "meteor/rest/test_rest_routes.py::test_a_bad_message_is_a_problem_in_xml",
    ),
    "JSON everywhere else, its fields; seconds there, milliseconds only in XML": (
        "spec/test_section_3.py::test_the_fields_of_json_are_the_same_everywhere",
        "meteor/test_cli_peer.py::test_json_is_one_object_a_line",
        "meteor/rest/test_json_message.py::test_every_field_is_read",
        "meteor/rest/test_rest_routes.py::test_a_retrieve_is_one_document",
    ),
}
