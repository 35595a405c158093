import { actionType } from '../../action-catalogue/action-types.js';
import { shortened, titleLine } from '../../incidents/title-text.js';
import type { TimelineDetails } from '../../incidents/timeline/timeline-entry.js';
import { shownStart, storable } from '../../platform/text.js';
import { type Action, hasEnded } from '../action.js';
import { shownActionId } from '../action-id.js';

export type ActionChange = 'requested' | 'approved' | 'rejected' | 'completed' | 'failed';

const LONGEST_MESSAGE = 1_000;
const LONGEST_TARGET = 500;
const LONGEST_REASON = 500;
/** In the words of the timeline; its details have more of it. */
const LONGEST_TARGET_TOLD = 120;

/** What happened to the action, for the timeline. What others wrote is in quotes, or comes last. */
export function changeInWords(change: ActionChange, action: Action): string {
  const { status, approvalLevel } = action;
  const what = `${action.type} ${targetInWords(action)}`;
  const message = messageOf(change, action);
  switch (change) {
    case 'requested': {
      const why = action.rollbackOf ? ` to roll back ${shownActionId(action.rollbackOf)}` : '';
      const waits =
        status === 'pending_approval' ? `, which waits for approval at level ${approvalLevel}` : '';
      return `Requested ${what}${why}${waits}.${said('Reason', reasonOf(action))}`;
    }
    case 'approved':
      return `Approved ${what}.${said('Comment', action.comment)}`;
    case 'rejected':
      return `Rejected ${what}: ${message}`;
    case 'completed':
      return `Completed ${what}: ${message}`;
    case 'failed':
      return `Could not complete ${what}: ${message}`;
  }
}

/** The same for programs, and whole. */
export function timelineDetails(change: ActionChange, action: Action): TimelineDetails {
  const { type, parameters, rollbackOf, comment, rejectionReason } = action;
  const about = {
    action_type: type,
    target: targetOf(action),
    rollback_of: rollbackOf && shownActionId(rollbackOf),
  };
  switch (change) {
    case 'requested':
      return { ...about, parameters, reason: reasonOf(action) };
    case 'approved':
      return { ...about, comment };
    case 'rejected':
      return { ...about, reason: rejectionReason };
    case 'completed':
    case 'failed':
      return about;
  }
}

/** How it ended, in words; cut when it is long. */
export function messageOf(change: ActionChange, action: Action): string | undefined {
  const text = change === 'rejected' ? action.rejectionReason : action.result?.message;
  return hasEnded(action) && text !== undefined ? shownStart(text, LONGEST_MESSAGE) : undefined;
}

/** The value of its first parameter, cut when it is long. */
export function targetOf({ type, parameters }: Action): string {
  const { name } = actionType(type).parameters[0]!;
  return shownStart(String(parameters[name]), LONGEST_TARGET);
}

function targetInWords(action: Action): string {
  return JSON.stringify(titleLine(targetOf(action), LONGEST_TARGET_TOLD) ?? '');
}

/** The beginning of why it was asked for; undefined where nobody said. */
export function shownReason(action: Action): string | undefined {
  const reason = reasonOf(action);
  return reason ? shownStart(reason, LONGEST_REASON) : undefined;
}

/** Of a rollback why it is rolled back, else what was given as the parameter of that name. */
function reasonOf({ reason, parameters }: Action): string | undefined {
  const given = reason ?? parameters['reason'];
  return typeof given === 'string' ? given : undefined;
}

function said(what: string, words: string | undefined): string {
  return words ? ` ${what}: ${shortened(storable(words), LONGEST_MESSAGE)}` : '';
}
