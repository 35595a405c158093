import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const PLAYBOOKS_CONTRACT: ModuleContract = {
  tags: { Playbooks: 'Steps against a type of incident, and their runs.' },
  ids: {
    'playbook-runs': { what: 'run', schema: 'PlaybookRunId' },
    playbooks: { what: 'playbook', schema: 'PlaybookReference', example: 'phishing-response' },
    runs: { what: 'run', schema: 'PlaybookRunId' },
  },
  schemas: {
    CheckedPlaybook: 'Confirmation that a playbook can be saved.',
    DryRunStep: 'Decision about a step in a dry run.',
    PlaybookInput: 'A playbook to create.',
    PlaybookStepInput: 'A step of a playbook to create.',
    PlaybookTriggersInput: 'Incidents that a playbook to create is for.',
    Playbook: 'The current version of a playbook.',
    PlaybookDryRun: 'Effect that a run would have.',
    PlaybookReference: 'Name or id of a playbook.',
    PlaybookRun: 'Full details of a playbook run.',
    PlaybookRunOutcome: 'A started run or a dry run: see `kind`.',
    PlaybookRunRequest: 'Incident, variables and `dry_run` of a run to start.',
    PlaybookRunStep: 'State of a step of a run.',
    PlaybookRunSummary: 'A playbook run in a list.',
    PlaybookStep: 'A step of a playbook.',
    PlaybookTriggers: 'Incidents that a playbook is for. They match each list that is not empty.',
    PlaybookUpdate: 'Changes to a playbook; at least one field is required.',
    PlaybookVersion: 'A version of a playbook.',
    SharedAction: 'An action that a step uses instead of its own.',
    StartedPlaybookRun: 'A started run.',
  },
  fields: {
    playbook: 'Name of the playbook.',
    playbook_id: 'Id of the playbook.',
    playbook_runs: 'Playbook runs with work that waits for the kill switch.',
    playbook_version: 'Version of the playbook.',
    run_id: 'Id of the run.',
    steps: 'Steps, in their order.',
    steps_total: 'Number of steps.',
  },
};
