import { ACTION_ID_EXAMPLE } from '../action-id.js';
import { PARAMETERS_EXAMPLE } from './execute-action.dto.js';

/*
 * Whole answers as they can happen. An example that is put together from the examples of the fields would show an action
 * that has finished and waits, that is approved and rejected, all at once.
 */
const REQUESTED_AT = '2026-01-31T09:30:00.000Z';
const DECIDED_AT = '2026-01-31T09:31:00.000Z';
const EXECUTED_AT = '2026-01-31T09:31:02.000Z';
const EXPIRES_AT = '2026-02-01T09:30:00.000Z';
const ROLLBACK_ID = 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f';

const DONE = { status: 'completed', result: { success: true, message: 'The email was moved.' } };
const WAITING = { status: 'pending_approval', approval_level: 'senior', expires_at: EXPIRES_AT };

const SUMMARY = {
  id: ACTION_ID_EXAMPLE,
  incident_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  incident: {
    incident_number: 'INC-2026-0042',
    incident_type: 'phishing',
    title: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com',
    severity: 'high',
    status: 'open',
  },
  action_type: 'quarantine_email',
  approval_level: 'analyst',
  parameters: PARAMETERS_EXAMPLE,
  requested_by: 'alice',
  requested_at: REQUESTED_AT,
  approved_by: 'bob',
  approved_at: DECIDED_AT,
  comment: 'Seen in three mailboxes.',
  executed_by: 'bob',
  executed_at: EXECUTED_AT,
  ...DONE,
};

export const ACTION_EXAMPLE = { data: SUMMARY };
export const ACTION_LIST_EXAMPLE = { data: [SUMMARY], meta: { page: 1, per_page: 20, total: 1 } };

export const EXECUTED_EXAMPLE = { data: { action_id: ACTION_ID_EXAMPLE, ...DONE } };
export const EXECUTION_WAITS_EXAMPLE = {
  data: {
    action_id: ACTION_ID_EXAMPLE,
    ...WAITING,
    message: 'isolate_host needs approval at level senior or higher.',
  },
};

const ROLLBACK = { rollback_action_id: ROLLBACK_ID, original_action_id: ACTION_ID_EXAMPLE };
export const ROLLED_BACK_EXAMPLE = { data: { ...ROLLBACK, ...DONE } };
export const ROLLBACK_WAITS_EXAMPLE = { data: { ...ROLLBACK, ...WAITING } };

const APPROVED = { id: ACTION_ID_EXAMPLE, approved_by: 'bob', approved_at: DECIDED_AT };
export const APPROVED_EXAMPLE = { data: { ...APPROVED, ...DONE } };
export const APPROVED_AND_RUNS_EXAMPLE = { data: { ...APPROVED, status: 'pending' } };
