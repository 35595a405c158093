import { actionType, isActionType, undoneBy } from '../../action-catalogue/action-types.js';
import { ActionId, FAILURE_CODES, REQUIRED_LEVELS } from '../../actions/action.js';
import { Flag, Id, Nested, WholeNumber } from '../../platform/validation/fields.js';
import { defineEvent, type Words } from './define-event.js';
import * as t from './event-data.js';

const ACTION = t.data('EventAction', 'An action, as shown in an event.', {
  id: t.field(ActionId, undefined, t.subjectOf),
  action_type: t.text(),
  target: t.text('Target of the action.'),
  requested_by: t.text(),
  reason: t.maybe(t.text('Beginning of the reason of the requester.')),
  expires_at: t.maybe(t.instant('End of the approval window. Absent without an approval.')),
  approved_by: t.maybe(t.text('Approver. Absent if nobody approved the action.')),
  rejected_by: t.maybe(t.text('Person or system that rejected the action.')),
  approval_level: t.maybe(
    t.choice('RequiredLevel', REQUIRED_LEVELS, 'Required level of the approver.'),
  ),
  level_reason: t.maybe(t.text('Reason for a higher level than that of the action type.')),
  rollback_of: t.maybe(t.field<string>(ActionId, 'Action that this action rolls back.')),
  playbook_run_id: t.maybe(
    t.field<string>((options) => Id('PlaybookRunId', { ...options, example: undefined })),
  ),
  message: t.maybe(t.text('Result, or reason of the rejection.')),
  code: t.maybe(
    t.choice('ActionFailureCode', FAILURE_CODES, 'Reason of a failure, if one applies.'),
  ),
  simulated: t.maybe(
    t.field<true>(Flag, 'A sandbox simulated the action. Absent for a real action.'),
  ),
  url: t.apiUrl('action'),
});
type EventAction = t.DataOf<typeof ACTION>;

const incidentId = ({ incident_id }: t.SourceEvent): string => incident_id ?? '';
const INCIDENT = t.data('EventActionIncident', 'The incident of an action in an event.', {
  id: t.id('IncidentId', incidentId),
  incident_number: t.incidentNumber,
  title: t.maybe(t.renamed('incident_title')),
  severity: t.maybe(t.severity()),
  url: t.apiUrl('incident', incidentId),
});
const incident = (description: string) =>
  t.maybe(
    t.field(
      (options) => Nested(() => INCIDENT.schema, options),
      description,
      (source) => (source.incident_id ? INCIDENT.valuesOf(source) : undefined),
    ),
  );

const DATA = t.data('ActionData', 'An action and its incident.', {
  action: t.nested(ACTION),
  incident: incident('Absent for an action without incident.'),
});
export type ActionData = t.DataOf<typeof DATA>;

export const ACTION_EVENT_TYPES = {
  'action.pending_approval': defineEvent({
    description: 'An action waits for approval.',
    data: DATA,
    forPeople: true,
    words: (data) => wordsOfApproval(data, 'Approval needed'),
    alerts: ({ action }) => ({ trigger: approvalKey(action) }),
  }),

  'action.expiring': defineEvent({
    description: 'An action waits for approval and expires soon.',
    data: DATA,
    forPeople: true,
    words: (data) => wordsOfApproval(data, 'Approval expires soon'),
    alerts: ({ action }) => ({ trigger: approvalKey(action) }),
  }),

  'action.completed': defineEvent({
    description: 'An action was completed.',
    data: DATA,
    words: (data) => wordsAbout(data, data.action.simulated ? 'Simulated' : 'Action completed'),
    alerts: ({ action }) => ({ resolve: approvalKey(action) }),
  }),

  'action.failed': defineEvent({
    description: 'An action failed, or its outcome is unknown.',
    data: DATA,
    forPeople: true,
    words: (data) => ({
      ...wordsAbout(data, `${data.action.simulated ? 'Simulated: ' : ''}Action failed`),
      request: nextStepAfter(data.action),
    }),
    // A failure has a separate alert, because the alert of the approval would not page a person who acknowledged it.
    alerts: ({ action }) => ({
      trigger: `action_failed:${action.id}`,
      ...(action.approval_level !== undefined && { resolve: approvalKey(action) }),
    }),
  }),

  'action.rejected': defineEvent({
    description: 'An action was rejected.',
    data: DATA,
    words: (data) => wordsAbout(data, 'Action rejected'),
    alerts: ({ action }) => ({ resolve: approvalKey(action) }),
  }),

  'playbook.step_failed': defineEvent({
    description: 'A step of a playbook run failed.',
    data: t.data('PlaybookStepFailedData', 'A failed step, its run, and the reason.', {
      run: t.nested(
        t.data('EventPlaybookRun', 'A playbook run, as shown in an event.', {
          id: t.subjectId('PlaybookRunId'),
          playbook: t.text('Name of the playbook at the start of the run.'),
          playbook_version: t.field<number>((options) => WholeNumber({ ...options, min: 1 })),
          automatic: t.field<boolean>(Flag, 'The run started automatically after a triage.'),
        }),
      ),
      step: t.text('Name of the step.'),
      message: t.text('Reason of the failure.'),
      action_id: t.maybe(t.field<string>(ActionId, 'Action of the step, if it created one.')),
      incident: incident('Absent for a run without incident.'),
    }),
    forPeople: true,
    words: ({ run, step, message, incident: about }) => ({
      headline: `Playbook step failed: ${step} of ${run.playbook}${forIncident(about)}`,
      about: about?.title,
      facts: {
        Why: message.replace(OWN_PATH, '$<place>: '),
        Severity: about?.severity,
        Version: String(run.playbook_version),
        Run: run.id,
      },
      request:
        'Do the work of the step by hand, and correct the playbook if it is wrong. If the step fails again within 6 hours, only the attention list reports it.',
    }),
    alerts: ({ run, step }) => ({ trigger: `step_failed:${run.id}:${step}` }),
  }),
};

/** The headline already names the step. In the message, its path with dots would be defanged like a domain. */
const OWN_PATH = /^steps\.\d+\.(?:parameters\.)?(?<place>\w+)(?:\.\w+)* at character \d+: /;

const forIncident = (about: ActionData['incident']) =>
  about ? ` for ${about.incident_number}` : '';

function wordsAbout({ action, incident: about }: ActionData, heading: string): Words {
  const { action_type, rollback_of } = action;
  const undone = undoneBy(action_type) ?? 'an action';
  const rollback = rollback_of === undefined ? '' : ` (rollback of ${undone})`;
  const category = isActionType(action_type) ? actionType(action_type).category : undefined;
  // The title of a ticket repeats the incident, and the name of a chat channel is not a target.
  const hasTarget = category !== 'ticketing' && category !== 'notification';
  const target = hasTarget ? action.target : undefined;
  return {
    headline: `${heading}: ${action_type}${rollback}${forIncident(about)}`,
    about: target ?? about?.title,
    facts: {
      Reason: action.reason,
      Incident: target && about?.title,
      Severity: about?.severity,
      'Requested by': action.requested_by,
      'Approved by': action.approved_by,
      'Rejected by': action.rejected_by,
      'Approval level': action.approval_level,
      Message: action.message,
      Simulated: action.simulated && 'yes: nothing happened outside',
      Action: action.id,
      'Rollback of': rollback_of,
    },
  };
}

function wordsOfApproval(data: ActionData, heading: string): Words {
  const { approval_level, level_reason, expires_at } = data.action;
  const because = level_reason ? `, because ${level_reason}` : '';
  const until = expires_at ? `, until ${expires_at}` : '';
  const request = `It waits for approval at level ${approval_level} or higher${because}${until}.`;
  return { ...wordsAbout(data, heading), request };
}

function nextStepAfter({ code, action_type }: EventAction): string {
  switch (code) {
    case 'outcome_unknown':
    case 'timeout':
      return 'Check at the vendor whether it happened. If it did not, request the action again.';
    case 'no_connector':
      return `No connector provides ${action_type}. An admin can set up such a connector. Until then, do the action by hand.`;
    case 'unreachable':
    case 'interrupted':
      return 'Nothing was done. Request the action again, or do it by hand.';
    case 'refused':
    case undefined:
      return 'Read the message, correct what is wrong, and request the action again, or do it by hand.';
  }
}

const approvalKey = ({ id }: EventAction): string => `action:${id}`;
