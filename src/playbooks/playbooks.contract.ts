import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const PLAYBOOKS_CONTRACT: ModuleContract = {
  tags: { Playbooks: 'What is done about a kind of incident, step by step, and the runs of it.' },
  ids: {
    'playbook-runs': { what: 'run', schema: 'PlaybookRunId' },
    playbooks: { what: 'playbook', schema: 'PlaybookReference', example: 'phishing-response' },
    runs: { what: 'run', schema: 'PlaybookRunId' },
  },
  schemas: {
    CheckedPlaybook: 'That a playbook can be saved.',
    DryRunStep: 'What a step of a playbook would do.',
    PlaybookInput: 'A playbook to create.',
    PlaybookStepInput: 'A step that a playbook is to have.',
    PlaybookTriggersInput: 'Which incidents a playbook is to be for.',
    Playbook: 'A playbook, as it is now.',
    PlaybookDryRun: 'What a run would do.',
    PlaybookReference: 'The name of a playbook, or its id.',
    PlaybookRun: 'Full details of a run of a playbook.',
    PlaybookRunOutcome: 'A run that was begun, or what it would do: `dry_run` tells which.',
    PlaybookRunRequest: 'For which incident, with which variables, and whether in earnest.',
    PlaybookRunStep: 'How a step of a run stands, or ended.',
    PlaybookRunSummary: 'A run of a playbook, as shown in lists.',
    PlaybookStep: 'A step of a playbook.',
    PlaybookTriggers:
      'Which incidents a playbook is for: those that fit each of the lists that are not empty.',
    PlaybookUpdate: 'Changes to a playbook; at least one field is required.',
    PlaybookVersion: 'A playbook, as it was at one version.',
    SharedAction: 'The action that a step takes instead of one of its own.',
    StartedPlaybookRun: 'A run that was begun in earnest.',
  },
  fields: {
    playbook: 'The name of the playbook.',
    playbook_id: 'The playbook.',
    playbook_runs: 'Runs of playbooks that have not begun, or wait between two steps.',
    playbook_version: 'The version of the playbook by which it goes.',
    run_id: 'The run.',
    steps: 'Its steps, in their order.',
    steps_total: 'How many steps there are.',
  },
};
