"""The specification, section 5, errors and exit codes: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "one root MeteorError; each is also the built-in that people catch": (
        "meteor/test_meteor_errors.py::test_errors_are_also_the_builtin_that_people_catch",
        "meteor/test_spec_errors.py::test_every_public_error_has_the_one_root_and_pickles",
    ),
    "every message says the operation, the value, the limit or the peer, and what to do": (
        "meteor/test_spec_errors.py"
        "::test_every_message_says_the_operation_the_value_the_limit_and_what_to_do",
        "meteor/test_spec_errors.py::test_what_is_closed_says_which_operation_and_what_to_do",
    ),
    "errors pickle": (
        "meteor/test_meteor_errors.py::test_every_error_pickles_with_its_fields_and_text",
        "meteor/test_spec_python.py::test_errors_that_were_raised_pickle_with_what_they_carry",
    ),
    "JoinFailed(.tried), Refused(.rule), LimitExceeded(.name .value .limit)": (
        "meteor/test_peer.py::test_joining_nobody_names_what_was_tried",
        "meteor/test_spec_python.py::test_errors_carry_what_the_specification_names",
    ),
    "DataDirLocked, AddressInUse": (
        "meteor/test_spec_errors.py::test_data_dir_locked_carries_the_path",
        "meteor/test_peer.py::test_a_port_in_use_is_refused",
    ),
    "VersionMismatch and SpaceMismatch": (
        "meteor/test_client_link.py::test_a_peer_of_another_wire_version_is_named_so",
        "meteor/test_client_link.py::test_another_space_is_refused_with_the_difference",
    ),
    "Timeout, NotConnected and Busy": (
        "meteor/test_client_link.py::test_silence_is_a_timeout_that_names_the_peer_and_moves_on",
        "meteor/test_client_link.py::test_without_any_peer_the_error_says_who_was_tried",
        "meteor/test_client_corners.py::test_a_busy_peer_is_asked_again_until_the_time_is_spent",
    ),
    "SlowConsumer and Closed": (
        "meteor/test_interest_stream.py"
        "::test_a_slow_consumer_gets_what_was_queued_and_then_the_error",
        "meteor/test_spec_errors.py::test_what_is_closed_says_which_operation_and_what_to_do",
    ),
    "the exit codes": (
        "spec/test_section_6.py::test_the_exit_codes_are_those_of_the_specification",
        "meteor/test_cli.py::test_every_error_has_its_exit_code",
        "meteor/test_cli.py::test_no_error_of_a_new_kind_is_forgotten",
    ),
    "0 found or done, 1 no match": (
        "meteor/test_cli_peer.py::test_what_is_posted_is_found_deleted_and_found_no_more",
        "meteor/test_cli_peer.py::test_a_watch_that_sees_nothing_is_no_match",
    ),
    "2 bad input": (
        "meteor/test_cli.py::test_bad_input_is_exit_code_2",
        "meteor/test_cli_peer.py::test_bad_input_names_its_cause",
    ),
    "3 incomplete": (
        "meteor/test_forgetting.py::test_what_cannot_be_forgotten_has_its_exit_code",
        "meteor/test_doctor.py::test_the_doctor_looks_at_a_ring_and_at_the_settings_here",
        "spec/test_section_6.py::test_what_is_incomplete_is_exit_code_3",
    ),
    "4 refused": (
        "meteor/test_cli_peer.py::test_a_peer_that_others_reach_does_not_start_in_the_clear",
        "meteor/test_cli_peer.py::test_a_data_directory_has_one_owner_and_remembers",
    ),
    "5 unreachable or time-out": (
        "meteor/test_cli_peer.py::test_nobody_there_is_unreachable",
        "meteor/test_cli_peer.py::test_a_bootstrap_list_without_an_answer_is_unreachable",
        "meteor/test_cli_peer.py::test_a_watch_that_sees_too_few_ran_out_of_time",
    ),
    "130 interrupted": ("meteor/test_cli_peer.py::test_interrupting_a_peer_is_130",),
}
