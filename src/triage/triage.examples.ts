import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const VERDICT = {
  classification: 'malicious',
  confidence: 0.85,
  category: 'phishing',
  reasoning:
    'Malicious: phishing from ceo[@]examp1e[.]com to finance[@]example[.]com. A host borrows the name of an organisation that it does not belong to ("examp1e[.]com"). Payments are to go to another account than before ("wire transfer"). The text hurries its reader ("urgent").',
  indicators: [
    { type: 'email', value: 'ceo@examp1e.com', found_in: '/sender' },
    { type: 'domain', value: 'examp1e.com', found_in: '/sender' },
    { type: 'email', value: 'finance@example.com', found_in: '/recipient' },
    { type: 'domain', value: 'example.com', found_in: '/recipient' },
  ],
  mitre_techniques: ['T1566'],
  evidence: [
    { value: 'ceo@examp1e.com', source: 'raw_data', pointer: '/sender' },
    { value: 'Urgent wire transfer', source: 'raw_data', pointer: '/subject' },
    { value: '<4f2a1c@mail.example.net>', source: 'raw_data', pointer: '/message_id' },
  ],
};

const TRIAGED = {
  data: {
    triage_id: STORY.triageRun,
    incident_id: STORY.mail,
    status: 'completed',
    verdict: VERDICT,
    recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
    duration_ms: 40,
    applied: true,
    provider: 'rules',
    model: 'rules',
    prompt_hash: 'f975b317c21deaf6a277f1aa518de09f33ba1e1e9dbd4f731c9dd6375904e379',
    tokens: { input: 0, output: 0, cached_input: 0 },
    requested_by: 'alice',
    force: false,
    notes: [],
    failures: 0,
    created_at: '2026-01-31T09:44:00.022Z',
    started_at: '2026-01-31T09:44:00.022Z',
    completed_at: '2026-01-31T09:44:00.072Z',
    tool_calls: [],
    points: [
      {
        rule: 'name_borrowed',
        points: 45,
        pointer: '/sender',
        explanation:
          'A host borrows the name of an organisation that it does not belong to ("examp1e[.]com").',
      },
      {
        rule: 'payment_change',
        points: 30,
        pointer: '/subject',
        explanation: 'Payments are to go to another account than before ("wire transfer").',
      },
      {
        rule: 'urgency',
        points: 6,
        pointer: '/subject',
        explanation: 'The text hurries its reader ("urgent").',
      },
    ],
  },
};

export const TRIAGE_EXAMPLES: OperationExamples = {
  triageIncident: {
    completed: { summary: 'The verdict', path: { id: STORY.mail }, status: 200, answer: TRIAGED },
    queued: {
      summary: 'Later: `Prefer: respond-async`',
      path: { id: STORY.strangeLogin },
      headers: { Prefer: 'respond-async' },
      body: { playbook: 'suspicious-login' },
      status: 202,
      answer: {
        data: {
          triage_id: STORY.queuedRun,
          incident_id: STORY.strangeLogin,
          status: 'queued',
          provider: 'rules',
          tokens: { input: 0, output: 0, cached_input: 0 },
          requested_by: 'alice',
          force: false,
          playbook: 'suspicious-login',
          notes: [],
          failures: 0,
          created_at: '2026-01-31T09:44:40.026Z',
        },
      },
    },
    validation_error: {
      summary: 'There is no such playbook',
      path: { id: STORY.strangeLogin },
      body: { playbook: 'no-such-playbook' },
      status: 422,
      answer: refused('validation_error', 'playbook names no enabled playbook.', {
        details: {
          errors: [
            {
              field: 'playbook',
              code: 'unknown_playbook',
              message: 'playbook names no enabled playbook.',
            },
          ],
        },
      }),
    },
  },
  listTriageRuns: {
    one: {
      summary: 'One run',
      path: { id: STORY.mail },
      status: 200,
      answer: {
        data: [
          {
            triage_id: STORY.triageRun,
            incident_id: STORY.mail,
            status: 'completed',
            verdict: VERDICT,
            recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
            duration_ms: 40,
            applied: true,
            provider: 'rules',
            model: 'rules',
            prompt_hash: 'f975b317c21deaf6a277f1aa518de09f33ba1e1e9dbd4f731c9dd6375904e379',
            tokens: { input: 0, output: 0, cached_input: 0 },
            requested_by: 'alice',
            force: false,
            notes: [],
            failures: 0,
            created_at: '2026-01-31T09:44:00.022Z',
            started_at: '2026-01-31T09:44:00.022Z',
            completed_at: '2026-01-31T09:44:00.072Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  getTriageRun: {
    completed: {
      summary: 'It has a verdict',
      path: { id: STORY.mail, triage_id: STORY.triageRun },
      status: 200,
      answer: TRIAGED,
    },
  },
};
