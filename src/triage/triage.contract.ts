import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const TRIAGE_CONTRACT: ModuleContract = {
  tags: { Triage: 'Verdicts of a model on incidents, each with what it rests on.' },
  ids: { triage: { what: 'run', schema: 'TriageRunId' } },
  schemas: {
    TriageError: 'Why a run has no verdict.',
    TriageEvidence: 'A value on which a verdict rests, as code has checked.',
    TriageIndicator: 'Something in the event that can be searched for elsewhere, as code found it.',
    TriagePoint: 'What a rule of the built-in scorer counted.',
    TriageRequest: 'How triage is to go about it.',
    TriageRun: 'Full details of a run of triage.',
    TriageRunSummary: 'A run of triage, as shown in lists.',
    TriageStatus:
      'queued: it waits. running: it is under way. completed: it has a verdict. failed: it has none.',
    TriageTokens: 'What the model read and wrote, in its own units.',
    TriageToolCall: 'Something that the model looked up.',
    TriageVerdict: 'The verdict of a run.',
  },
  fields: {
    confidence: 'How sure the verdict is: 0 not at all, 1 entirely.',
    explanation: 'Why the rule counts, in words for people.',
    force: 'Whether the run was to replace a verdict that was there.',
    'TriageTokens.input': 'Tokens that the model read.',
    'TriageTokens.output': 'Tokens that the model wrote.',
    provider: 'Who gives verdicts here.',
    reasoning: 'Why, in words for people.',
    recommended_actions:
      'Types of actions that a person might take. None of them is taken by itself.',
    rule: 'The name of the rule.',
    tool: 'What the model used.',
    triage_id: 'The run of triage.',
    triage_runs: 'Runs of triage that wait to ask a model outside.',
    'TriageIndicator.type':
      'What kind of value it is, such as `url`, `domain`, `ip`, `email` or `sha256`.',
  },
};
