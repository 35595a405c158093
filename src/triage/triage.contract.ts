import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Texts of the contract beside the DTOs and controllers. */
export const TRIAGE_CONTRACT: ModuleContract = {
  tags: { Triage: 'Verdicts of a model on incidents, each with its evidence.' },
  ids: { triage: { what: 'run', schema: 'TriageRunId' } },
  schemas: {
    TriageError: 'Why a run has no verdict.',
    TriageEvidence: 'A value that supports a verdict. Code has checked it.',
    TriageIndicator: 'A value in the event that can be searched for elsewhere. Code has found it.',
    TriagePoint: 'Points that a rule of the built-in scorer gave.',
    TriageRequest: 'Options of a triage.',
    TriageRun: 'Full details of a run of triage.',
    TriageRunSummary: 'A run of triage, as shown in lists.',
    TriageStatus:
      'queued: the run waits. running: an attempt is in progress. completed: the run has a verdict. failed: it has no verdict.',
    TriageTokens: 'Tokens that the model read and wrote.',
    TriageToolCall: 'A question of the model, with its answer.',
    TriageVerdict: 'The verdict of a run.',
  },
  fields: {
    confidence: 'Certainty of the verdict, from 0 to 1.',
    explanation: 'Why the rule counts, as text for people.',
    force: 'Whether the run may replace an existing verdict.',
    'TriageTokens.input': 'Tokens that the model read.',
    'TriageTokens.output': 'Tokens that the model wrote.',
    provider: 'Provider of verdicts.',
    reasoning: 'Reasons for the verdict, as text for people.',
    recommended_actions:
      'Types of actions that a person might execute. The service does not execute them.',
    rule: 'Name of the rule.',
    tool: 'Name of the tool.',
    triage_id: 'Id of the triage run.',
    triage_runs: 'Triage runs that wait to ask a model outside.',
    'TriageIndicator.type':
      'Kind of the value, such as `url`, `domain`, `ip`, `email` or `sha256`.',
  },
};
