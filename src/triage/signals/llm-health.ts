import type { ComponentHealth } from '../../platform/health-components.js';
import type { UnavailableReason } from '../model/model.errors.js';
import type { ProviderName } from '../model/triage-model.port.js';

/** What this replica has heard of the provider. */
export interface Heard {
  /** It gave nothing when it was asked last. */
  readonly silent: boolean;
  readonly last?: {
    readonly reason: UnavailableReason;
    readonly message: string;
    readonly at: Date;
  };
}

export interface LlmState {
  readonly provider: ProviderName;
  readonly model: string | undefined;
  readonly heard: Heard;
  /** How many runs wait; undefined when that is not known. */
  readonly waiting: number | undefined;
  /** Why the hour has no tokens left. */
  readonly shortage: string | undefined;
  readonly now: Date;
}

/** When nothing waits, nobody asks: after this time a failure says nothing about the provider any more. */
const OLD_NEWS_MS = 15 * 60_000;

/** How the provider is, for whoever looks at the health. */
export function llmHealth(state: LlmState): ComponentHealth {
  const { provider, model, heard, waiting } = state;
  const { last } = heard;
  const told = {
    provider,
    model,
    runs_waiting: waiting,
    ...(last && { last_failure: { reason: last.reason, at: last.at.toISOString() } }),
  };
  if (provider === 'none') {
    const message = 'No AI provider is configured: only people triage.';
    return { status: 'disabled', message, ...told };
  }
  const trouble = troubleIn(state);
  if (trouble !== undefined) return { status: 'degraded', message: trouble, ...told };
  const message = 'The last request failed; nobody has asked since.';
  return { status: 'healthy', ...(heard.silent && { message }), ...told };
}

function troubleIn({ heard: { silent, last }, waiting, shortage, now }: LlmState) {
  if (shortage !== undefined) return shortage;
  if (!silent || !last) return undefined;
  const isNews = waiting !== 0 || now.getTime() - last.at.getTime() < OLD_NEWS_MS;
  return isNews ? `The provider gives nothing: ${last.message}` : undefined;
}
