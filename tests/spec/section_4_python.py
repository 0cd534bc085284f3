"""The specification, section 4, Python: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the block of code, as it stands": (
        "meteor/test_spec_python.py::test_the_block_of_the_specification_runs",
    ),
    "a peer is embedded with every verb of a client; peer.address, peer.id": (
        "meteor/test_client_on_loop.py::test_an_embedded_peer_has_every_verb",
        "meteor/test_peer.py::test_an_embedded_peer_has_the_verbs_of_a_client",
    ),
    "client.space and client.peer_address": (
        "meteor/test_client_verbs.py::test_the_space_is_the_rings",
        "meteor/test_client_link.py::test_the_first_peer_that_serves_is_taken",
    ),
    "post is the one symmetric primitive, with these parameters": (
        "meteor/test_client_verbs.py::test_post_has_exactly_the_parameters_that_the_spec_names",
    ),
    "store and delete give receipts, retrieve an Answer, notify an Interest": (
        "meteor/test_client_corners.py::test_post_gives_what_the_action_calls_for",
        "meteor/sync/test_sync.py::test_post_gives_what_the_action_calls_for",
    ),
    "application actions give an Answer": (
        "meteor/test_application_actions.py"
        "::test_post_gives_the_same_and_the_message_says_what_was_posted",
    ),
    "an Answer is iterated over, all() or first(); awaiting it is all()": (
        "meteor/test_client_verbs.py::test_an_answer_is_all_first_or_awaited",
        "meteor/test_answer.py::test_matches_come_while_the_overlay_still_answers",
    ),
    "an Interest is iterated over, received from, or has a handler, sync or async": (
        "meteor/test_client_verbs.py::test_an_interest_is_told_what_lives_and_what_comes",
        "meteor/test_interest_stream.py::test_recv_times_out_and_goes_on",
        "meteor/test_interest_handlers.py::test_a_handler_gets_every_notification_in_order",
    ),
    "watch.active, wait_active, wait_idle": (
        "meteor/test_client_verbs.py::test_a_watch_follows_who_is_interested",
    ),
    "renew, cancel and replace by the receipt's id": (
        "meteor/test_client_verbs.py::test_renew_cancel_and_replace_go_by_the_receipts_id",
    ),
    "post_many(messages, concurrency=64)": (
        "meteor/test_post_many.py::test_receipts_come_in_the_order_of_the_messages",
        "meteor/test_post_many.py::test_no_more_are_under_way_or_read_ahead_than_asked_for",
    ),
    "meteor.sync has the same verbs, blocking, and Peer and LocalOverlay": (
        "meteor/test_sync_generated.py"
        "::test_every_method_of_the_asynchronous_side_stands_in_the_list",
        "meteor/sync/test_sync.py::test_both_sides_give_the_same",
        "meteor/sync/test_sync.py::test_a_peer_has_every_verb_and_runs_actions_in_threads",
        "meteor/sync/test_sync.py::test_an_overlay_grows_loses_peers_and_goes_on",
    ),
    "LocalOverlay of memory or websocket, ids, connect, crash, add_peer": (
        "meteor/test_peer.py::test_data_and_interests_meet_over_both_transports",
        "meteor/test_peer.py::test_an_overlay_of_given_ids",
        "meteor/test_peer.py::test_peers_come_leave_and_crash",
    ),
    "connect, Answer and Interest can be awaited or entered": (
        "meteor/test_client_on_loop.py::test_connect_can_be_awaited_or_entered",
        "meteor/test_spec_python.py::test_what_can_be_awaited_can_be_entered",
    ),
    "Receipt, Match and Notification have these attributes": (
        "meteor/test_spec_python.py::test_values_have_what_the_specification_names",
        "meteor/test_client_verbs.py::test_a_match_knows_its_profile_text_context_and_owner",
    ),
    "text is UTF-8, objects go only by json=; first() gives None where there is none": (
        "meteor/test_spec_python.py::test_data_is_bytes_or_text_and_objects_go_by_json",
        "meteor/test_spec_answers.py::test_first_is_none_where_nothing_matches",
    ),
    "never silently partial: Incomplete at every place, or flags": (
        "meteor/test_spec_answers.py"
        "::test_every_stated_place_raises_incomplete_while_an_arc_is_missing",
        "meteor/test_answer.py"
        "::test_every_awaited_post_raises_incomplete_unless_partial_is_allowed",
    ),
    "data 3600 s, interests and watches 300 s, retrieve 0, at most 30 days": (
        "meteor/test_spec_lifetimes.py::test_what_is_left_out_lives_its_default",
        "meteor/test_client_verbs.py::test_lifetimes_left_out_are_those_of_the_action",
        "meteor/test_client_verbs.py::test_an_absurd_lifetime_is_refused",
    ),
    "renewed at a third while the client lives": (
        "meteor/test_interest_lifetimes.py"
        "::test_an_interest_is_renewed_at_a_third_while_its_client_lives",
    ),
    "an interest outlives its client by its ttl": (
        "meteor/test_spec_lifetimes.py::test_an_interest_outlives_its_client_by_its_ttl",
    ),
    "keep_alive=False lets it run out, then iteration ends (expired)": (
        "meteor/test_interest_lifetimes.py::test_without_keep_alive_it_expires_and_the_iteration_ends",
    ),
    "leaving async with, or close(), deletes it": (
        "meteor/test_spec_lifetimes.py::test_closing_an_interest_deletes_it_at_once",
    ),
    "detach() leaves it; attach(id) in a later process delivers what still lives first": (
        "meteor/test_attach.py::test_what_lives_comes_first_then_what_comes",
        "meteor/test_attach.py::test_after_a_restart_of_the_client_it_comes_at_least_once",
    ),
    "after await notify_data no matching post is missed": (
        "meteor/test_client_exactly_once.py"
        "::test_every_notification_comes_exactly_once_and_every_store_is_found_once",
    ),
    "replace: found by the new content and not by the old one; never neither": (
        "meteor/test_moves.py::test_a_replaced_profile_is_never_found_by_neither_content",
        "meteor/test_moves.py::test_after_a_move_the_old_content_finds_nothing",
    ),
    "slow consumers: error (SlowConsumer) or drop_oldest; never silent": (
        "meteor/test_interest_stream.py"
        "::test_a_slow_consumer_gets_what_was_queued_and_then_the_error",
        "meteor/test_interest_options.py::test_the_oldest_goes_where_that_was_asked_for",
        "meteor/test_interest_options.py::test_a_standing_retrieve_has_a_queue_and_a_policy",
    ),
    "a client whose peer dies goes to the next and re-attaches its interests": (
        "meteor/test_overlay_failover.py"
        "::test_a_client_whose_peer_dies_goes_to_another_and_keeps_its_interests",
        "meteor/test_client_link.py::test_interests_are_re_attached_and_what_was_missed_comes",
    ),
    "retries are idempotent": (
        "meteor/test_client_link.py"
        "::test_a_post_in_flight_is_repeated_at_the_next_peer_with_the_same_identity",
    ),
    "on_disconnected, on_reconnected, on_error": (
        "meteor/test_client_link.py::test_callbacks_tell_of_the_link",
        "meteor/test_client_corners.py::test_callbacks_that_fail_are_logged_and_harm_nobody",
        "meteor/sync/test_sync_interests.py::test_what_a_handler_raises_goes_to_on_error",
    ),
    "clean exit without close()": (
        "meteor/test_client_on_loop.py::test_the_interpreter_leaves_without_close_or_warning",
        "meteor/test_peer.py::test_a_program_that_closes_nothing_ends_cleanly",
        "meteor/test_sync_life.py"
        "::test_a_program_ends_without_close_without_hanging_and_without_a_word",
    ),
    "using a peer after fork raises": (
        "meteor/test_spec_errors.py::test_using_a_peer_after_fork_raises",
        "meteor/test_sync_life.py::test_a_client_belongs_to_its_process",
        "meteor/test_sync_life.py::test_an_asynchronous_client_belongs_to_its_process_too",
    ),
    "no signal handlers inside an application": (
        "meteor/test_spec_errors.py::test_a_peer_in_an_application_takes_no_signals",
    ),
    "the layers alone: squid, arms, chord": (
        "meteor/test_spec_python.py::test_the_layers_can_be_used_alone",
        "meteor/test_spec_python.py::test_a_ring_can_be_looked_up_in_alone",
        "squid/test_router.py::test_deliver_is_the_reports_single_operation",
    ),
    "sim.Overlay with run, client and trace": (
        "meteor/test_spec_python.py::test_an_overlay_in_virtual_time",
    ),
    "signing: identity= and tls=; without identities the owner is empty": (
        "meteor/security/test_signed_overlay.py::test_what_is_signed_is_owned",
        "meteor/security/test_signed_overlay.py::test_what_nobody_owns_everybody_may_touch",
        "meteor/test_tls.py::test_peers_of_one_ca_are_a_ring_and_a_client_needs_the_ca_alone",
    ),
    "sim.spark.study.run gives a frame, and plot draws it": (
        "sim/test_study_spark.py::test_the_table_has_a_row_for_every_key",
        "sim/test_study_spark.py::test_the_command_writes_tables_figure_and_verdict",
    ),
    "bounds of a lifetime: no infinity, NaN or negative": (
        "meteor/test_client_verbs.py::test_an_absurd_lifetime_is_refused",
    ),
    "an answer that is closed says so, and one that was taken keeps its matches": (
        "meteor/test_spec_answers.py::test_a_closed_answer_says_so",
        "meteor/test_spec_answers.py::test_an_answer_that_was_taken_whole_still_knows_its_matches",
    ),
}
