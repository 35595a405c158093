import { AppError } from '../../platform/errors/app-error.js';
import { shownActionId } from '../action-id.js';
import type { Twin } from './twins.js';

const IN_WORDS: Readonly<Record<Twin['status'], string>> = {
  pending: 'is under way',
  pending_approval: 'waits for approval',
  completed: 'was done',
};

export class DuplicateActionError extends AppError {
  constructor({ id, type, status, requestedBy, requestedAt, executedAt }: Twin) {
    super(
      'duplicate_action',
      `${type} on this target was requested by ${requestedBy} and ${IN_WORDS[status]}. Send repeat: true to request it again.`,
      {
        details: {
          action_id: shownActionId(id),
          status,
          requested_by: requestedBy,
          requested_at: requestedAt.toISOString(),
          executed_at: executedAt?.toISOString(),
        },
      },
    );
  }
}
