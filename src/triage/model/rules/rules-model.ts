import { ModelUnavailableError } from '../model.errors.js';
import { type Judgement, TriageModel } from '../triage-model.port.js';

/** Stand-in. */
export class RulesModel extends TriageModel {
  readonly provider = 'rules';
  readonly configuredModel = 'rules';

  async judge(): Promise<Judgement> {
    throw new ModelUnavailableError('not_configured', 'A stand-in.', { mayHelpLater: false });
  }
}
