import { ModelUnavailableError } from './model.errors.js';
import { type Judgement, TriageModel } from './triage-model.port.js';

/** Nobody gives verdicts but people. */
export class NoModel extends TriageModel {
  readonly provider = 'none';
  readonly configuredModel = undefined;
  readonly asksOutside = false;

  async judge(): Promise<Judgement> {
    throw new ModelUnavailableError(
      'not_configured',
      'No provider of verdicts is configured: TRIAGE_PROVIDER and ANTHROPIC_API_KEY name one.',
      { mayHelpLater: false },
    );
  }
}
