const ASKED = {
  triage_id: '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c',
  incident_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  requested_by: 'alice',
  force: false,
  playbook: 'phishing-response',
  created_at: '2026-01-31T09:30:00.000Z',
} as const;

const FOUND = {
  ...ASKED,
  status: 'completed',
  verdict: {
    classification: 'malicious',
    confidence: 0.86,
    category: 'spear_phishing',
    reasoning: 'The sender imitates the company domain and asks for a wire transfer today.',
    indicators: [{ type: 'email', value: 'ceo@examp1e.com', found_in: '/sender' }],
    mitre_techniques: ['T1566.002'],
    evidence: [{ source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' }],
  },
  recommended_actions: ['quarantine_email', 'block_sender'],
  duration_ms: 3120,
  applied: true,
  provider: 'anthropic',
  model: 'model-of-the-provider',
  prompt_hash: '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9',
  tokens: { input: 2841, output: 412, cached_input: 0 },
  notes: [],
  failures: 0,
  started_at: '2026-01-31T09:30:00.000Z',
  completed_at: '2026-01-31T09:30:03.120Z',
};

export const TRIAGED_EXAMPLE = {
  data: {
    ...FOUND,
    tool_calls: [
      {
        id: 't1',
        tool: 'related_incidents',
        input: { indicator_id: 'i1' },
        output: { incidents: [] },
        duration_ms: 4,
      },
    ],
  },
};

export const TRIAGE_WAITS_EXAMPLE = {
  data: {
    ...ASKED,
    status: 'queued',
    provider: 'anthropic',
    tokens: { input: 0, output: 0, cached_input: 0 },
    notes: [],
    failures: 0,
  },
};

export const TRIAGE_LIST_EXAMPLE = {
  data: [FOUND],
  meta: { page: 1, per_page: 20, total: 1 },
};
