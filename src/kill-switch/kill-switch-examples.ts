const ON = {
  active: true,
  reason: 'The isolation playbook takes the wrong hosts.',
  activated_by: 'j.doe',
  activated_at: '2026-11-02T09:30:00.000Z',
} as const;

export const KILL_SWITCH_EXAMPLE = {
  data: { ...ON, held: { actions: 3, triage_runs: 1, playbook_runs: 0 } },
};

export const ACTIVATED_EXAMPLE = { data: { ...ON, in_flight: 2 } };

export const DEACTIVATED_EXAMPLE = {
  data: {
    ...ON,
    active: false,
    deactivated_by: 'm.chen',
    deactivated_at: '2026-11-02T10:05:00.000Z',
    deactivation_reason: 'The playbook is corrected.',
  },
};
