"""What is promised to those who use it: developers, owners of sensors, operators, researchers.

Each sentence and the tests that show it, where the specification's sections do not say it already.
"""

from __future__ import annotations

SENTENCES = {
    # -- clients
    "one list of methods generates the blocking side and tests both": (
        "meteor/test_sync_generated.py::test_the_generated_text_is_up_to_date",
        "meteor/sync/test_sync.py::test_there_is_a_call_for_every_verb_of_the_list",
    ),
    "iterators are safe across threads": (
        "meteor/sync/test_sync_interests.py::test_threads_share_an_iterator_and_each_notification_goes_to_one",
        "meteor/sync/test_sync_interests.py::test_closing_ends_every_wait_of_other_threads",
    ),
    "leaving the loop ends the asking": (
        "meteor/sync/test_sync.py::test_leaving_the_loop_ends_the_asking",
    ),
    "a bounded queue with a policy, on both sides": (
        "meteor/sync/test_sync_interests.py::test_a_full_queue_has_its_policy",
        "meteor/test_interest_options.py::test_the_oldest_goes_where_that_was_asked_for",
    ),
    "a sensor in six lines, an actuator, an alarm, an ASGI peer, a script, curl": (
        "meteor/test_client_examples.py::test_every_example_is_run_here",
        "meteor/test_client_examples.py::test_a_sensor_in_six_lines",
        "meteor/test_client_examples.py::test_an_actuator_works_only_while_somebody_is_interested",
        "meteor/test_client_examples.py::test_an_alarm_watcher_outlives_its_peer",
        "meteor/test_client_examples.py::test_a_peer_in_the_lifespan_of_an_application",
        "meteor/test_client_examples.py::test_a_script_without_an_event_loop",
        "meteor/test_client_examples.py::test_a_sensor_with_only_curl",
    ),
    "at a prompt things say what they are, and slips what to write instead": (
        "meteor/test_at_a_prompt.py::test_everything_says_what_it_is_and_how_it_is",
        "meteor/test_at_a_prompt.py::test_what_blocks_says_the_same",
        "meteor/test_at_a_prompt.py::test_who_forgot_to_connect_is_told_so",
        "meteor/test_at_a_prompt.py::test_help_says_what_every_field_is",
        "meteor/test_at_a_prompt.py::test_dir_shows_what_is_for_users",
    ),
    # -- REST
    "XML and JSON by content negotiation": (
        "meteor/rest/test_rest_decisions.py::test_the_form_that_the_caller_prefers",
        "meteor/rest/test_rest_routes.py::test_a_message_in_json_is_answered_in_json",
    ),
    "ETag, Last-Modified and 304": (
        "meteor/rest/test_rest_peer.py::test_what_the_caller_has_is_not_sent_again",
    ),
    "links to the next page": ("meteor/rest/test_rest_peer.py::test_long_answers_come_in_pages",),
    "no CORS unless it is configured": (
        "meteor/rest/test_rest_peer.py"
        "::test_pages_of_other_sites_change_nothing_unless_they_are_named",
    ),
    "a fuzzer that reads the description finds nothing": (
        "meteor/rest/test_rest_fuzz.py::test_the_description_keeps_what_it_promises",
    ),
    "callers over HTTP wait for their turn, bounded, as linked clients do": (
        "meteor/rest/test_rest_turns.py"
        "::test_a_flood_is_bounded_and_another_caller_is_served_meanwhile",
    ),
    # -- the dashboard
    "post, watch and query from the page; its box and the peers that it touches light up": (
        "meteor/dashboard/test_dashboard.py"
        "::test_a_post_from_the_page_reaches_the_watch_of_the_page",
        "meteor/dashboard/test_dashboard.py::test_a_query_lights_its_box_and_its_peers",
    ),
    "profiles and interests of a peer, searched": (
        "meteor/dashboard/test_dashboard.py::test_the_registry_is_searched",
        "meteor/rest/test_rest_peer.py::test_the_registry_is_looked_through_page_by_page",
    ),
    "link quality between peers": (
        "meteor/dashboard/test_dashboard.py::test_links_between_peers_are_shown",
        "meteor/rest/test_looking_on.py"
        "::test_links_are_reported_by_both_ends_and_a_silent_peer_is_named",
    ),
    "nothing from outside; light and dark, a phone, the keyboard": (
        "meteor/dashboard/test_dashboard.py"
        "::test_nothing_is_loaded_from_elsewhere_and_nothing_inline_runs",
        "meteor/dashboard/test_dashboard.py::test_it_fits_a_phone_and_follows_the_systems_colours",
        "meteor/dashboard/test_dashboard.py::test_everything_is_reached_by_keyboard",
        "meteor/dashboard/test_contrast.py::test_text_stands_out",
    ),
    "read-only off the peer's machine unless a token is given": (
        "meteor/dashboard/test_dashboard.py"
        "::test_off_its_machine_the_page_only_looks_until_the_token_is_given",
    ),
    # -- the command line
    "completions": (
        "meteor/test_serving.py::test_the_shell_completes_commands_options_and_values",
    ),
    "colour on a terminal only, progress on long work": (
        "meteor/test_cli_terminal.py::test_colours_are_for_terminals_and_for_who_wants_them",
        "meteor/test_cli_terminal.py::test_long_work_shows_how_far_it_has_come",
    ),
    "what anybody posted is shown on one line and gives a terminal no orders": (
        "meteor/test_cli_peer.py::test_what_anybody_posted_gives_the_terminal_no_orders",
    ),
    "post from a file, the standard input, a CSV with --map, --id, --ttl, --rate and rejects": (
        "meteor/test_cli_peer.py::test_a_payload_comes_from_a_file",
        "meteor/test_cli_post.py::test_a_payload_comes_from_the_standard_input",
        "meteor/test_cli_post.py::test_rows_are_posted_and_rejects_put_aside_with_their_reason",
        "meteor/test_cli_post.py::test_rows_come_from_the_standard_input_without_a_header",
        "meteor/test_cli_post.py::test_rows_have_a_lifetime_and_names_of_their_own",
        "meteor/test_cli_post.py::test_rows_keep_the_pace_that_was_asked_for",
    ),
    "watch survives its peer": (
        "meteor/test_cli_ring.py::test_a_watch_goes_to_the_next_peer_when_its_own_dies",
    ),
    "the ring as a table and as a tree of arcs with load": (
        "meteor/test_cli_ring.py::test_a_ring_is_shown_as_table_tree_and_json",
        "meteor/test_cli_ring.py::test_every_peer_stands_once_in_the_tree_and_loads_add_up",
    ),
    "the doctor says what is wrong and what to do": (
        "meteor/test_doctor.py::test_wrong_settings_are_found",
        "meteor/test_doctor.py::test_what_a_walk_round_the_ring_shows_is_found",
        "meteor/test_doctor.py::test_wrong_certificates_are_found",
        "meteor/test_doctor.py"
        "::test_with_files_that_make_no_link_the_settings_are_looked_at_all_the_same",
    ),
    "settings by file, environment and flags, shown by config": (
        "meteor/test_configuration.py::test_file_environment_and_flag_in_rising_precedence",
        "meteor/test_configuration.py::test_a_command_runs_with_what_the_file_says",
    ),
    "a mistyped command, dimension or setting is told of, with its place": (
        "meteor/test_cli.py::test_a_misspelt_command_is_told_of",
        "meteor/test_cli_peer.py::test_a_name_that_is_nearly_a_dimensions_is_told_of",
        "meteor/test_configuration.py::test_a_wrong_value_is_said_to_stand_where_it_does",
        "meteor/test_doctor.py::test_a_value_that_no_peer_would_take_is_a_finding_among_the_others",
    ),
    # -- operation
    "metrics named by convention, one registry a peer": (
        "meteor/test_metrics.py::test_every_metric_is_described_and_named_by_convention",
    ),
    "structured logs": ("meteor/test_serving.py::test_logs_are_json_lines_where_asked",),
    "SIGTERM hands over first": (
        "meteor/test_serving.py::test_sigterm_hands_over_first_and_the_service_manager_is_told",
    ),
    "a unit for systemd and a container file": (
        "meteor/test_deploy.py::test_the_unit_starts_reloads_and_stops_a_peer",
        "meteor/test_deploy.py::test_the_image_is_built_and_its_command_serves_until_it_is_stopped",
    ),
    "discovery by list, file and zeroconf": (
        "meteor/test_serving.py::test_a_file_of_peers_has_an_address_a_line",
        "meteor/test_serving.py::test_peers_of_one_name_find_each_other_on_the_network",
    ),
    "presets for one machine, one site and the Internet, of ring and copies": (
        "meteor/test_peer_options.py::test_presets_differ_where_distance_matters",
        "meteor/test_peer_options.py::test_copies_are_waited_for_as_long_as_the_preset_says",
    ),
    # -- the documentation
    "every snippet is run and prints what it says": (
        "test_pages.py::test_a_page_can_be_followed_as_it_is_written",
        "test_examples.py::test_the_readme_s_python_runs_and_prints_what_it_says",
        "meteor/test_three_hosts.py::test_three_hosts_with_tls_from_copy_and_paste",
        "test_notebooks.py::test_it_runs",
    ),
    "the site builds without a warning": ("test_pages.py::test_the_site_builds_without_a_warning",),
}
