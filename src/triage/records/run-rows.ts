import type { TriageRun } from '../triage-run.js';
import type { TriageRunEntity } from './triage-run.entity.js';

/** Calls and points are absent where a read left them out. */
export type RunRow = Omit<TriageRunEntity, 'points' | 'tool_calls'> &
  Partial<Pick<TriageRunEntity, 'points' | 'tool_calls'>>;

export function runOf(row: RunRow): TriageRun {
  const waitsForTime =
    row.status === 'queued' && row.error && row.error.reason !== 'not_configured';
  return {
    id: row.id,
    incidentId: row.incident_id,
    status: row.status,
    requestedBy: row.requested_by,
    force: row.force,
    playbook: row.playbook ?? undefined,
    notes: row.notes,
    provider: row.provider,
    model: row.model ?? undefined,
    promptHash: row.prompt_hash ?? undefined,
    tokens: {
      input: row.input_tokens,
      output: row.output_tokens,
      cachedInput: row.cached_input_tokens,
    },
    durationMs: row.duration_ms ?? undefined,
    verdict: row.verdict ?? undefined,
    recommendedActions: row.recommended_actions ?? undefined,
    notApplied: row.not_applied ?? undefined,
    points: row.points ?? undefined,
    toolCalls: row.tool_calls ?? undefined,
    error: row.error ?? undefined,
    nextAttemptAt: waitsForTime ? (row.lease_until ?? undefined) : undefined,
    failures: row.failures,
    lapses: row.lapses,
    fence: row.fence,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
  };
}
