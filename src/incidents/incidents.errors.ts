import { AppError } from '../platform/errors/app-error.js';
import type { Incident } from './incident.js';

/** Whoever changes the status may not know that a colleague has resolved the incident meanwhile. */
export class AlreadyResolvedError extends AppError {
  constructor({ resolvedBy, resolvedAt, resolution }: Incident) {
    const by = resolvedBy === undefined ? '' : ` by ${resolvedBy}`;
    const at = resolvedAt === undefined ? '' : ` at ${resolvedAt.toISOString()}`;
    super(
      'already_resolved',
      `The incident was resolved${by}${at}. Send reopen: true, or If-Match with its ETag, to open it again.`,
      {
        details: {
          resolved_by: resolvedBy,
          resolved_at: resolvedAt?.toISOString(),
          resolution,
        },
      },
    );
  }
}
