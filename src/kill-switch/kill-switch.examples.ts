import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';

export const KILL_SWITCH_EXAMPLES: OperationExamples = {
  getKillSwitch: {
    off: {
      summary: 'It is off',
      status: 200,
      answer: { data: { active: false, held: { actions: 0, triage_runs: 0, playbook_runs: 0 } } },
    },
    on: {
      summary: 'It is on',
      status: 200,
      answer: {
        data: {
          active: true,
          reason: 'The isolation playbook takes the wrong hosts.',
          activated_by: 'alice',
          activated_at: '2026-01-31T10:29:20.006Z',
          held: { actions: 0, triage_runs: 0, playbook_runs: 0 },
        },
      },
    },
  },
  activateKillSwitch: {
    activated: {
      summary: 'It is on',
      body: { reason: 'The isolation playbook takes the wrong hosts.' },
      status: 200,
      answer: {
        data: {
          active: true,
          reason: 'The isolation playbook takes the wrong hosts.',
          activated_by: 'alice',
          activated_at: '2026-01-31T10:29:20.006Z',
          in_flight: 0,
        },
      },
    },
  },
  deactivateKillSwitch: {
    forbidden: {
      summary: 'The role is too low',
      body: { reason: 'The playbook is corrected.' },
      status: 403,
      answer: refused('forbidden', 'Only a manager or an admin may do this.', {
        details: { required_role: 'manager' },
      }),
    },
    resumed: {
      summary: 'What waited goes on',
      body: { reason: 'The playbook is corrected.' },
      status: 200,
      answer: {
        data: {
          active: false,
          reason: 'The isolation playbook takes the wrong hosts.',
          activated_by: 'alice',
          activated_at: '2026-01-31T10:29:20.006Z',
          deactivated_by: 'carol',
          deactivated_at: '2026-01-31T10:32:00.008Z',
          deactivation_reason: 'The playbook is corrected.',
        },
      },
    },
  },
};
