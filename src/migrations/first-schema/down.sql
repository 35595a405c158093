-- Names every object of the migration, so that objects of other owners stay. Trigger functions go after the tables.
drop table
  work, work_lanes, domain_events, idempotency_keys, secret_keys, write_probe, audit_log,
  audit_seals, audit_chain, audit_retired_keys, users, known_networks, api_keys, sessions, incidents,
  incident_timeline, incident_reports, incident_count_deltas, incident_counts,
  kill_switch, connectors, actions, action_counts, action_count_deltas, playbooks,
  playbook_versions, playbook_runs, playbook_run_steps, playbook_run_counts, playbook_run_count_deltas, triage_runs,
  webhook_sources, webhook_events, webhook_seen_events, webhook_event_counts,
  webhook_event_count_deltas, notification_channels, notification_deliveries, notification_delivery_counts,
  notification_delivery_count_deltas, attention_marks;

drop function
  probe_writes, add_work_for_events, events_in, refuse_change_of_audit, count_added_incidents, count_changed_incidents,
  count_removed_incidents, date_action_update, add_lanes_of_connector, keep_actions_as_requested, keep_run_of_action, count_new_actions,
  count_actions, refuse_change_of_playbook_version, count_new_playbook_runs, count_playbook_runs,
  count_added_webhook_events, count_changed_webhook_events, count_removed_webhook_events, notification_urgency,
  keep_lane_of_channel, wave_limit, add_deliveries, count_new_deliveries, count_changed_deliveries, count_removed_deliveries;

drop type incident_severity, incident_status;
