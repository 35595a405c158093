import type { Incident } from '../../incidents/incident.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';

/** What the tools of one run know. */
export interface Question {
  readonly runId: string;
  readonly incident: Incident;
  readonly rawData: Readonly<Record<string, unknown>>;
  readonly indicators: readonly ExtractedIndicator[];
  readonly gate: Gate;
}
