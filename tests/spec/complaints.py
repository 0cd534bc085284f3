"""What users of comparable things complain about, and what shows that it is not so here.

A row is the promise that answers a complaint; the tests are those that would fail if the complaint
were true.
"""

from __future__ import annotations

SENTENCES = {
    "a shorter answer says so, by name, at every place where one can be": (
        "meteor/test_spec_answers.py"
        "::test_every_stated_place_raises_incomplete_while_an_arc_is_missing",
        "meteor/test_overlay_actions.py::test_the_arc_of_a_crashed_peer_is_reported_missing",
        "meteor/test_known_traps.py"
        "::test_who_does_not_hold_an_arc_never_says_that_nothing_is_there",
        "meteor/test_overlay_failover.py"
        "::test_a_question_while_the_owner_is_silent_says_incomplete_within_its_timeout",
        "spec/test_section_7.py::test_a_lost_arc_is_named_in_header_and_body",
        "processes/test_fault_runs.py::test_what_free_draws_leave_no_copy_of_is_named",
    ),
    "copies do not drift apart": (
        "meteor/test_copies.py::test_all_copies_are_there_soon_after_every_join_leave_and_crash",
        "sim/test_scenarios.py::test_what_was_promised_holds",
    ),
    "an interest is acknowledged: no first message vanishes, and who is late gets what lives": (
        "meteor/test_client_exactly_once.py"
        "::test_every_notification_comes_exactly_once_and_every_store_is_found_once",
        "meteor/test_client_verbs.py::test_an_interest_is_told_what_lives_and_what_comes",
    ),
    "asyncio and blocking, of one list": (
        "meteor/sync/test_sync.py::test_both_sides_give_the_same",
        "meteor/test_sync_generated.py"
        "::test_every_method_of_the_asynchronous_side_stands_in_the_list",
    ),
    "an iterator is a view of the queue that a callback has": (
        "benchmarks/bench_client.py::test_received_per_second",
        "meteor/sync/test_sync_interests.py::test_threads_share_an_iterator_and_each_notification_goes_to_one",
    ),
    "a client reconnects by itself with its interests; what it posted twice counts once": (
        "meteor/test_overlay_failover.py"
        "::test_a_client_whose_peer_dies_goes_to_another_and_keeps_its_interests",
        "meteor/test_overlay_failover.py"
        "::test_what_was_stored_while_the_client_was_away_comes_when_it_is_back",
        "meteor/test_client_link.py"
        "::test_with_every_peer_gone_posts_say_so_and_a_returning_one_serves",
        "meteor/test_client_link.py"
        "::test_a_post_in_flight_is_repeated_at_the_next_peer_with_the_same_identity",
    ),
    "a program ends without hanging, whatever it left open": (
        "meteor/test_sync_life.py"
        "::test_a_program_ends_without_close_without_hanging_and_without_a_word",
        "meteor/test_client_on_loop.py::test_the_interpreter_leaves_without_close_or_warning",
        "meteor/test_websocket_links.py"
        "::test_a_program_that_never_closes_its_peer_ends_cleanly_and_soon",
    ),
    "a peer that leaves or dies takes nothing with it, and comes back as the same peer": (
        "meteor/test_overlay_churn.py::test_nothing_acknowledged_is_lost_while_arcs_move_under_load",
        "meteor/test_overlay_crashes.py::test_nothing_is_lost_without_a_word",
        "meteor/test_peer.py::test_a_peer_alone_resumes_with_id_profiles_and_interests",
        "processes/test_fault_runs.py::test_a_killed_peer_costs_nothing_that_was_acknowledged",
        "processes/test_fault_runs.py::test_a_quarter_killed_and_others_held",
        "benchmarks/bench_vanish.py::test_spared_draw",
    ),
    "a lifetime is each profile's own; renew, delete with a count, and word of what is gone": (
        "meteor/test_overlay_actions.py::test_expired_profiles_never_match",
        "meteor/test_client_verbs.py::test_renew_cancel_and_replace_go_by_the_receipts_id",
        "meteor/test_client_verbs.py::test_deletes_count_and_dry_runs_only_count",
        "meteor/test_overlay_actions.py"
        "::test_an_interest_that_nobody_renews_runs_out_and_its_watch_hears",
        "meteor/test_overlay_actions.py::test_a_deleted_id_stays_deleted",
    ),
    "discovery is a list first, then a file; the network is asked only by who says so": (
        "meteor/test_peer.py::test_joining_nobody_names_what_was_tried",
        "meteor/test_serving.py::test_a_file_of_peers_has_an_address_a_line",
        "meteor/test_serving.py::test_peers_of_one_name_find_each_other_on_the_network",
        "meteor/test_configuration.py::test_every_key_of_the_file_is_an_option_of_a_command",
    ),
    "rights go by identity, change while running, and a denial names its rule": (
        "meteor/security/test_policy.py::test_the_first_rule_that_speaks_decides",
        "meteor/security/test_policy.py::test_a_slip_of_the_pen_is_said",
        "meteor/security/test_policy_overlay.py::test_a_changed_file_is_seen_by_itself",
        "meteor/security/test_policy_process.py::test_sighup_reads_the_policy_again",
        "meteor/test_spec_python.py::test_errors_carry_what_the_specification_names",
    ),
    "content is selected by ranges, prefixes and wildcards, several at once, not by a topic": (
        "meteor/test_spec_selectors.py::test_a_selector_finds_what_it_says",
        "meteor/test_spec_selectors.py::test_an_interest_is_told_of_what_a_retrieve_finds",
    ),
    "our own wheel is pure Python, and a small machine needs none of it: curl will do": (
        "test_public_api.py::test_the_wheel_installs_and_runs",
        "meteor/rest/test_rest_peer.py::test_a_sensor_with_only_curl",
        "meteor/test_client_examples.py::test_a_sensor_with_only_curl",
    ),
}
