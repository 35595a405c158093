import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

export const APPROVAL_EXAMPLES: OperationExamples = {
  approveAction: {
    insufficient_approval_level: {
      summary: 'The level is too low',
      path: { id: STORY.deleteMail },
      status: 403,
      answer: refused(
        'insufficient_approval_level',
        'This needs approval level senior; yours is analyst.',
        { required_level: 'senior', your_level: 'analyst' },
      ),
    },
    completed: {
      summary: 'It was done',
      path: { id: STORY.deleteMail },
      body: { comment: 'Seen in three mailboxes.' },
      status: 200,
      answer: {
        data: {
          id: STORY.deleteMail,
          status: 'completed',
          approved_by: 'bob',
          approved_at: '2026-01-31T09:59:20.007Z',
          result: {
            success: true,
            message: '[sandbox] delete_email was not really done.',
            simulated: true,
          },
        },
      },
    },
    invalid_state: {
      summary: 'Somebody decided before',
      path: { id: STORY.deleteMail },
      status: 409,
      answer: refused('invalid_state', 'The action is completed: it does not wait for approval.'),
    },
    forbidden: {
      summary: "One's own request",
      path: { id: STORY.blockIp },
      status: 403,
      answer: refused('forbidden', 'Nobody may approve what they requested themselves.'),
    },
    pending: {
      summary: 'It takes longer than a request',
      path: { id: STORY.unblockSender },
      status: 202,
      answer: {
        data: {
          id: STORY.unblockSender,
          status: 'pending',
          approved_by: 'carol',
          approved_at: '2026-01-31T10:09:20.006Z',
        },
      },
    },
    incident_resolved: {
      summary: 'The incident is resolved',
      path: { id: STORY.lateBlock },
      status: 409,
      answer: refused(
        'invalid_state',
        'The incident of the action is resolved. Send confirm_resolved: true to approve it all the same.',
        { details: { reason: 'incident_resolved' } },
      ),
    },
  },
  rejectAction: {
    insufficient_approval_level: {
      summary: 'The level is too low',
      path: { id: STORY.deleteMail },
      body: { reason: 'The mail is genuine after all.' },
      status: 403,
      answer: refused(
        'insufficient_approval_level',
        'This needs approval level senior; yours is analyst.',
        { required_level: 'senior', your_level: 'analyst' },
      ),
    },
    rejected: {
      summary: 'It will not run',
      path: { id: STORY.blockDomain },
      body: { reason: 'The proxy blocks it already.' },
      status: 200,
      answer: {
        data: {
          id: STORY.blockDomain,
          status: 'rejected',
          rejected_by: 'bob',
          rejected_at: '2026-01-31T10:01:20.006Z',
          rejection_reason: 'The proxy blocks it already.',
        },
      },
    },
    invalid_state: {
      summary: 'Somebody decided before',
      path: { id: STORY.blockDomain },
      body: { reason: 'The proxy blocks it already.' },
      status: 409,
      answer: refused('invalid_state', 'The action is rejected: it does not wait for approval.'),
    },
  },
};
