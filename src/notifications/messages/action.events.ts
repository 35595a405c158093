import { actionType, isActionType, undoneBy } from '../../action-catalogue/action-types.js';
import { ActionId, FAILURE_CODES, REQUIRED_LEVELS } from '../../actions/action.js';
import { Flag, Id, WholeNumber } from '../../platform/validation/fields.js';
import {
  apiUrl,
  choice,
  dataType,
  type DataOf,
  defineEvent,
  type EventWords,
  field,
  id,
  incidentNumber,
  instant,
  maybe,
  nested,
  renamed,
  resolve,
  severity,
  type SourceEvent,
  subjectId,
  subjectOf,
  text,
  trigger,
} from './define-event.js';

const ACTION = dataType('EventAction', 'An action, as shown in an event.', {
  id: field(ActionId, undefined, subjectOf),
  action_type: text(),
  target: text('Target of the action.'),
  requested_by: text(),
  reason: maybe(text('Beginning of the reason of the requester.')),
  expires_at: maybe(instant('End of the approval window. Absent without an approval.')),
  approved_by: maybe(text('Approver. Absent if nobody approved the action.')),
  rejected_by: maybe(text('Person or system that rejected the action.')),
  approval_level: maybe(
    choice('RequiredLevel', REQUIRED_LEVELS, 'Required level of the approver.'),
  ),
  level_reason: maybe(text('Reason for a higher level than that of the action type.')),
  rollback_of: maybe(field<string>(ActionId, 'Action that this action rolls back.')),
  playbook_run_id: maybe(
    field<string>((options) => Id('PlaybookRunId', { ...options, example: undefined })),
  ),
  message: maybe(text('Result, or reason of the rejection.')),
  code: maybe(choice('ActionFailureCode', FAILURE_CODES, 'Reason of a failure, if one applies.')),
  simulated: maybe(field<true>(Flag, 'A sandbox simulated the action. Absent for a real action.')),
  url: apiUrl('action'),
});
type EventAction = DataOf<typeof ACTION>;

const incidentId = ({ incident_id }: SourceEvent): string => incident_id ?? '';
const INCIDENT = dataType('EventActionIncident', 'The incident of an action in an event.', {
  id: id('IncidentId', incidentId),
  incident_number: incidentNumber,
  title: maybe(renamed('incident_title')),
  severity: maybe(severity()),
  url: apiUrl('incident', incidentId),
});
const incident = maybe(
  nested(INCIDENT, (source) => (source.incident_id ? INCIDENT.valuesOf(source) : undefined)),
);

const DATA = dataType('ActionData', 'An action and its incident.', {
  action: nested(ACTION),
  incident: { ...incident, description: 'Absent for an action without incident.' },
});
export type ActionData = DataOf<typeof DATA>;

export const ACTION_EVENT_TYPES = {
  'action.pending_approval': defineEvent({
    description: 'An action waits for approval.',
    data: DATA,
    example: { expires_at: '2026-02-01T09:52:00.009Z' },
    forPeople: true,
    words: (data) => wordsOfApproval(data, 'Approval needed'),
    alerts: ({ action }) => trigger(approvalKey(action)),
  }),

  'action.expiring': defineEvent({
    description: 'An action waits for approval and expires soon.',
    data: DATA,
    example: { expires_at: '2026-02-01T09:52:00.009Z' },
    forPeople: true,
    words: (data) => wordsOfApproval(data, 'Approval expires soon'),
    alerts: ({ action }) => trigger(approvalKey(action)),
  }),

  'action.completed': defineEvent({
    description: 'An action was completed.',
    data: DATA,
    example: { approved_by: 'carol', message: 'The mail is deleted from all mailboxes.' },
    words: (data) => wordsAbout(data, data.action.simulated ? 'Simulated' : 'Action completed'),
    alerts: ({ action }) => resolve(approvalKey(action)),
  }),

  'action.failed': defineEvent({
    description: 'An action failed, or its outcome is unknown.',
    data: DATA,
    example: { code: 'refused', message: 'The service answered with status 500.' },
    forPeople: true,
    words: (data) => ({
      ...wordsAbout(data, `${data.action.simulated ? 'Simulated: ' : ''}Action failed`),
      request: nextStepAfter(data.action),
    }),
    // A failure has a separate alert, because the alert of the approval would not page a person who acknowledged it.
    alerts: ({ action }) => [
      ...trigger(`action_failed:${action.id}`),
      ...(action.approval_level === undefined ? [] : resolve(approvalKey(action))),
    ],
  }),

  'action.rejected': defineEvent({
    description: 'An action was rejected.',
    data: DATA,
    example: { rejected_by: 'carol', message: 'It is evidence, and in quarantine already.' },
    words: (data) => wordsAbout(data, 'Action rejected'),
    alerts: ({ action }) => resolve(approvalKey(action)),
  }),

  'playbook.step_failed': defineEvent({
    description: 'A step of a playbook run failed.',
    data: dataType('PlaybookStepFailedData', 'A failed step, its run, and the reason.', {
      run: nested(
        dataType('EventPlaybookRun', 'A playbook run, as shown in an event.', {
          id: subjectId('PlaybookRunId'),
          playbook: text('Name of the playbook at the start of the run.'),
          playbook_version: field<number>((options) => WholeNumber({ ...options, min: 1 })),
          automatic: field<boolean>(Flag, 'The run started automatically after a triage.'),
        }),
      ),
      step: text('Name of the step.'),
      message: text('Reason of the failure.'),
      action_id: maybe(field<string>(ActionId, 'Action of the step, if it created one.')),
      incident: { ...incident, description: 'Absent for a run without incident.' },
    }),
    example: {
      message: 'steps.4.parameters.recipient at character 4: There is no recipient here.',
    },
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
    alerts: ({ run, step }) => trigger(`step_failed:${run.id}:${step}`),
  }),
};

/** The headline names the step. A path with dots would be defanged like a domain. */
const OWN_PATH = /^steps\.\d+\.(?:parameters\.)?(?<place>\w+)(?:\.\w+)* at character \d+: /;

const forIncident = (about: ActionData['incident']) =>
  about ? ` for ${about.incident_number}` : '';

function wordsAbout({ action, incident: about }: ActionData, what: string): EventWords {
  const { action_type, rollback_of } = action;
  const undone = undoneBy(action_type) ?? 'an action';
  const rollback = rollback_of === undefined ? '' : ` (rollback of ${undone})`;
  const category = isActionType(action_type) ? actionType(action_type).category : undefined;
  // The title of a ticket repeats the incident, and the name of a chat channel is not a target.
  const hasTarget = category !== 'ticketing' && category !== 'notification';
  const target = hasTarget ? action.target : undefined;
  return {
    headline: `${what}: ${action_type}${rollback}${forIncident(about)}`,
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

function wordsOfApproval(data: ActionData, what: string): EventWords {
  const { approval_level, level_reason, expires_at } = data.action;
  const because = level_reason ? `, because ${level_reason}` : '';
  const until = expires_at ? `, until ${expires_at}` : '';
  const request = `It waits for approval at level ${approval_level} or higher${because}${until}.`;
  return { ...wordsAbout(data, what), request };
}

function nextStepAfter({ code, action_type }: EventAction): string {
  switch (code) {
    case 'outcome_unknown':
    case 'timeout':
      return 'Check at the vendor whether it happened. If it did not, request the action again.';
    case 'no_connector':
      return `No connector provides ${action_type}. An admin can set one up; until then, do it by hand.`;
    case 'unreachable':
    case 'interrupted':
      return 'Nothing was done. Request the action again, or do it by hand.';
    case 'refused':
    case undefined:
      return 'Read the message, correct what is wrong, and request the action again, or do it by hand.';
  }
}

const approvalKey = ({ id }: EventAction): string => `action:${id}`;
