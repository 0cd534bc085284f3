"""The specification, section 7, REST: each sentence and the tests that show it."""

from __future__ import annotations

SENTENCES = {
    "the routes, on the peer's own port": (
        "spec/test_section_7.py::test_the_routes_are_those_of_the_specification_and_more",
        "meteor/rest/test_rest_page.py::test_the_table_of_routes_is_that_which_serves",
        "meteor/test_cli_peer.py::test_rest_is_served_on_the_same_port",
    ),
    "POST /messages: XML in, result out": (
        "meteor/rest/test_rest_routes.py::test_a_message_is_stored",
        "meteor/rest/test_rest_routes.py::test_a_retrieving_message_gets_its_matches",
        "meteor/rest/test_rest_routes.py::test_a_message_in_json_is_answered_in_json",
        "meteor/rest/test_rest_actions.py::test_every_runs_result_is_in_one_answer",
        "meteor/test_cli_peer.py::test_messages_in_xml_are_posted_and_answered",
    ),
    "POST /profiles by a sensor with only curl": (
        "meteor/rest/test_rest_peer.py::test_a_sensor_with_only_curl",
        "meteor/rest/test_rest_routes.py::test_a_sensor_stores_with_curl",
    ),
    "GET and DELETE /profiles": (
        "meteor/rest/test_rest_peer.py::test_what_one_peer_is_told_another_finds",
        "meteor/rest/test_rest_routes.py::test_a_delete_counts",
    ),
    "DELETE /messages/{id}": (
        "meteor/rest/test_rest_routes.py::test_a_cancel_of_nothing_is_404",
        "meteor/rest/test_rest_peer.py::test_what_one_peer_is_told_another_finds",
    ),
    "GET /events: id is the notification's, event its kind": (
        "meteor/rest/test_rest_events.py::test_events_bring_what_lives_then_what_comes",
        "meteor/rest/test_rest_events.py::test_a_watch_as_events",
    ),
    "it resumes after Last-Event-ID": (
        "meteor/rest/test_rest_events.py::test_a_broken_stream_resumes_without_loss_and_without_repeats",
        "meteor/rest/test_feed.py::test_across_breaks_a_client_sees_everything_in_order_or_is_told",
        "meteor/dashboard/test_dashboard.py::test_a_browsers_event_source_resumes_after_a_break",
    ),
    "/ring, /space": (
        "meteor/rest/test_rest_peer.py::test_the_ring_the_links_and_the_registry",
        "spec/test_section_7.py::test_the_space_that_is_served_is_the_space",
    ),
    "/metrics, /healthz, /readyz": (
        "meteor/test_metrics.py::test_what_a_peer_does_shows_in_its_metrics",
        "meteor/test_metrics.py::test_alive_and_ready_are_two_questions",
    ),
    "/openapi.json": (
        "meteor/rest/test_rest_fuzz.py::test_the_description_keeps_what_it_promises",
    ),
    "/ is the dashboard": (
        "meteor/dashboard/test_dashboard.py"
        "::test_nothing_is_loaded_from_elsewhere_and_nothing_inline_runs",
    ),
    "an incomplete answer is 200 with Meteor-Complete: false and the same in the body": (
        "meteor/rest/test_rest_routes.py::test_an_incomplete_answer_is_200_and_says_so",
        "spec/test_section_7.py::test_a_lost_arc_is_named_in_header_and_body",
        "meteor/rest/test_rest_events.py"
        "::test_a_stream_of_a_region_with_a_lost_arc_begins_and_says_so",
    ),
    "errors are problem+json or +xml with type, detail, value, limit, position": (
        "meteor/rest/test_rest_routes.py::test_an_error_is_a_problem_document",
        "meteor/rest/test_rest_routes.py::test_a_bad_message_is_a_problem_in_xml",
    ),
}
