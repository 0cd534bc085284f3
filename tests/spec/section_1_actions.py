"""The specification, section 1, actions: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "store: kept as data, meets interests, each sender gets a notification": (
        "meteor/test_overlay_actions.py::test_store_row",
        "arms/test_rendezvous.py::test_store_tells_interests",
    ),
    "a standing retrieve gets the data": (
        "meteor/test_overlay_actions.py::test_standing_retrieve_row",
    ),
    "retrieve: an interest if ttl > 0, once otherwise; watches are told": (
        "arms/test_rendezvous.py::test_retrieve_once_gets_the_data_and_is_not_kept",
        "arms/test_rendezvous.py::test_retrieve_once_is_seen_to_come_and_go",
        "meteor/test_standing_retrieve.py::test_a_standing_retrieve_follows_later_matches_until_its_ttl",
    ),
    "notify_data: what already lives first; watches are told": (
        "meteor/test_overlay_actions.py::test_notify_data_row_tells_first_what_already_lives",
    ),
    "notify_interest: a watch meets interests only and is never data": (
        "meteor/test_overlay_actions.py::test_notify_interest_row_a_watch_meets_interests_only",
        "arms/test_rendezvous.py::test_a_watch_is_never_data_and_never_meets_a_watch",
    ),
    "delete: the sender's own, contained, overlap on request, dry_run counts": (
        "meteor/test_overlay_actions.py::test_delete_rows_take_what_is_contained",
        "meteor/test_overlay_actions.py::test_delete_interest_row",
        "arms/test_deletes.py::test_only_the_senders_own",
        "arms/test_deletes.py::test_overlap_on_request",
        "meteor/test_client_verbs.py::test_deletes_count_and_dry_runs_only_count",
    ),
    "removed on every copy; the count goes back": (
        "meteor/test_overlay_queries_under_faults.py"
        "::test_deletes_are_whole_and_counted_while_peers_die_in_the_middle",
        "meteor/test_copies_of_all_kinds.py::test_a_delete_wins_wherever_its_record_was_kept",
    ),
    "the incoming action comes first, then the matched ones, in seeded random order": (
        "arms/test_rules.py::test_rule_34_matches_come_in_seeded_random_order",
        "arms/test_rules.py::test_rule_34_the_incoming_action_comes_before_those_of_the_matched",
    ),
    "once=True is the single notice that there is at least one match": (
        "meteor/test_interest_options.py::test_once_tells_that_there_is_a_match_and_is_over",
        "meteor/test_interest_options.py"
        "::test_a_rendezvous_peer_keeps_one_notice_for_who_is_told_once",
    ),
    "with_data=False gives notices without payload (figure 2.2)": (
        "meteor/test_interest_options.py::test_without_data_a_notice_says_what_not_how_much",
        "meteor/test_overlay_actions.py::test_figure_2_2_step_by_step",
    ),
    "kinds are match, appeared and gone; a renewal is silent": (
        "meteor/test_overlay_actions.py::test_renewed_interests_are_silent_to_watches",
        "meteor/test_client_verbs.py::test_a_watch_follows_who_is_interested",
    ),
    "application actions run once per answering peer over the matches it reports": (
        "meteor/test_application_actions.py"
        "::test_it_runs_once_at_each_answering_peer_over_what_that_one_reports",
        "meteor/test_application_actions.py::test_a_peer_on_sockets_with_its_decorator",
    ),
    "results stream to the poster with peer and intervals": (
        "meteor/test_application_actions.py::test_results_come_while_others_still_run",
    ),
    "a peer without that action answers UnknownAction, counted as missing": (
        "meteor/test_application_actions.py::test_a_peer_without_the_action_counts_as_missing",
        "meteor/test_application_actions.py::test_an_action_that_nobody_has_is_unknown",
    ),
    "bounded in time and size": (
        "meteor/test_application_actions.py::test_what_takes_too_long_is_cancelled_and_missing",
        "meteor/test_application_actions.py::test_what_fails_is_missing_and_said",
        "meteor/test_application_actions.py::test_a_peer_runs_so_many_at_once_and_no_more",
    ),
    "an empty selector, one of the whole space, data without a dimension are refused": (
        "meteor/test_overlay_actions.py::test_safety_rules",
        "meteor/test_spec_lifetimes.py"
        "::test_undeclared_attributes_alone_go_everywhere_and_deletes_too",
        "meteor/test_spec_errors.py"
        "::test_every_message_says_the_operation_the_value_the_limit_and_what_to_do",
    ),
    "a watch is a subject: every attribute, * where the value is open": (
        "spec/test_section_1.py::test_a_watch_describes_what_would_be_published",
    ),
    "data that names no dimension is told the dimensions and the nearest name": (
        "spec/test_section_1.py::test_data_without_a_dimension_is_told_the_nearest_name",
    ),
    "an action of the application is run once, also for a request that is sent again": (
        "meteor/security/test_replays.py::test_an_action_of_the_application_runs_once",
        "meteor/test_application_actions.py::test_it_is_never_run_twice_when_the_link_breaks",
    ),
}
