"""The specification, section 6, the command line: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the commands": (
        "meteor/test_cli.py::test_help_lists_the_verbs_with_their_meaning",
        "spec/test_section_6.py::test_the_commands_are_those_of_the_specification",
        "meteor/test_command_line_page.py::test_the_page_says_what_the_commands_say",
    ),
    "--listen and --advertise, which a wildcard requires": (
        "meteor/test_cli_peer.py::test_a_peer_that_cannot_start_says_why",
        "meteor/test_spec_errors.py::test_a_wildcard_is_legal_where_the_peer_says_how_it_is_reached",
        "meteor/test_doctor.py::test_a_wildcard_nobody_can_dial_is_found",
    ),
    "--join, and --found-if-alone; without it JoinFailed lists what was tried": (
        "meteor/test_cli_peer.py::test_a_bootstrap_list_without_an_answer_is_unreachable",
        "meteor/test_peer.py::test_joining_nobody_names_what_was_tried",
    ),
    "--space, which a joiner may leave out": (
        "meteor/test_peer.py::test_a_joiner_without_a_space_takes_the_rings",
        "meteor/test_serving.py::test_sigterm_hands_over_first_and_the_service_manager_is_told",
    ),
    "--data-dir, kept over restarts, for one peer at a time": (
        "meteor/test_cli_peer.py::test_a_data_directory_has_one_owner_and_remembers",
    ),
    "post, get, delete": (
        "meteor/test_cli_peer.py::test_what_is_posted_is_found_deleted_and_found_no_more",
    ),
    "--peer and --json of every other command": (
        "spec/test_section_6.py::test_every_command_but_a_peer_takes_peer_and_json",
        "meteor/test_cli_peer.py::test_json_is_one_object_a_line",
    ),
    "watch --count N --timeout S": (
        "meteor/test_cli_peer.py::test_a_watch_prints_what_lives_and_ends_after_its_count",
        "meteor/test_cli_peer.py::test_a_watch_that_sees_nothing_is_no_match",
        "meteor/test_cli_peer.py::test_a_watch_that_sees_too_few_ran_out_of_time",
    ),
    "ring": (
        "meteor/test_cli_peer.py::test_the_ring_is_shown",
        "meteor/test_cli_ring.py::test_a_ring_is_shown_as_table_tree_and_json",
    ),
    "demo": ("meteor/test_demo.py::test_a_small_demo_is_exact_and_leaves_nothing",),
    "keygen and certs": (
        "meteor/security/test_identity.py::test_keygen_makes_one_and_never_writes_over_it",
        "meteor/test_certificates.py::test_certs_makes_files_that_tls_loads",
    ),
    "doctor": ("meteor/test_doctor.py::test_the_doctor_looks_at_a_ring_and_at_the_settings_here",),
    "config": (
        "meteor/test_configuration.py::test_file_environment_and_flag_in_rising_precedence",
    ),
    "meteor-sim churn, failures, scenario, measure, study, logs": (
        "spec/test_section_6.py::test_the_commands_of_the_simulator",
        "sim/test_studies.py::test_churn_prints_its_table",
        "sim/test_studies.py::test_failures_prints_its_table_and_writes_it",
        "sim/test_sim_cli.py::test_one_seed_prints_one_line",
        "sim/test_measure.py::test_lookups_and_routing_on_real_processes",
        "sim/test_study_spark.py::test_the_command_writes_tables_figure_and_verdict",
        "sim/test_logs.py::test_a_simulated_overlays_log_is_what_its_clients_saw",
    ),
}
