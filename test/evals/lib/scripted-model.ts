import {
  type Judgement,
  type ProposedVerdict,
  type TriageCase,
  TriageModel,
} from '../../../src/triage/model/triage-model.port.js';

const ALWAYS: ProposedVerdict = {
  classification: 'inconclusive',
  confidence: 0.5,
  category: 'unknown',
  reasoning: 'Scripted: this answer was written before any case was read.',
  indicators: [],
  mitreTechniques: [],
  evidence: [],
  recommendedActions: [],
};

/** Answers by script, to try the machinery of the evaluation. Its figures are those of the script and of no model. */
export class ScriptedModel extends TriageModel {
  readonly asksOutside = false;
  readonly provider = 'none';
  readonly configuredModel = 'scripted';

  constructor(private readonly script: (given: TriageCase) => ProposedVerdict = () => ALWAYS) {
    super();
  }

  async judge(given: TriageCase): Promise<Judgement> {
    return {
      verdict: this.script(given),
      model: this.configuredModel,
      promptHash: '0'.repeat(64),
      tokens: { input: 100, output: 10 },
      toolCalls: [],
    };
  }
}
