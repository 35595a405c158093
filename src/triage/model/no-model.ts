import { ModelUnavailableError } from './model.errors.js';
import { type Judgement, TriageModel } from './triage-model.port.js';

const NOT_CONFIGURED =
  'No provider of verdicts is configured. Set ANTHROPIC_API_KEY, or TRIAGE_PROVIDER=rules.';

/** Nobody gives verdicts but people. */
export class NoModel extends TriageModel {
  readonly provider = 'none';
  readonly configuredModel = undefined;
  readonly asksOutside = false;

  override get unusable(): ModelUnavailableError {
    const extras = { mayHelpLater: true, needsOperator: true };
    return new ModelUnavailableError('not_configured', NOT_CONFIGURED, extras);
  }

  async judge(): Promise<Judgement> {
    throw this.unusable;
  }
}
