import type { OperationExamples } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const ZEROES = '0'.repeat(64);
const MAC = 'e7245c02fa85453515ee642b5d0ef83395763dc00457cc87c127937c136f866a';

const EXPORT = [
  {
    type: 'export',
    at: '2026-02-01T08:00:00.000Z',
    from: '2026-01-31T00:00:00.000Z',
    previous: { seq: '0', hash: ZEROES },
    head: { seq: '1', hash: MAC },
    last_seq: '1',
    key_id: '5f0c9a3e',
    mac: MAC,
  },
  {
    type: 'entry',
    id: '019c136e-4646-7002-8df0-1f38510b1db5',
    at: '2026-01-31T09:42:00.006Z',
    actor: 'alice',
    action: 'incident.created',
    subject_type: 'incident',
    subject_id: STORY.mail,
    details: '{"incident_type":"phishing","severity":"high","source":"email-gateway"}',
    writer: '0193f2b6-0000-7a0b-9f4e-2f0a7b6c5d4c',
    written: '0',
    key_id: '5f0c9a3e',
    mac: MAC,
    seal: { seq: '1', hash: MAC, key_id: '5f0c9a3e' },
  },
  { type: 'end', sealed: 1, unsealed: 0, key_id: '5f0c9a3e', mac: MAC },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

export const AUDIT_EXAMPLES: OperationExamples = {
  listAudit: {
    incident_created: {
      summary: 'Who made an incident',
      query: { subject: `incident:${STORY.mail}`, action: 'incident.created' },
      status: 200,
      answer: {
        data: [
          {
            id: '019c136e-4646-7002-8df0-1f38510b1db5',
            at: '2026-01-31T09:42:00.006Z',
            actor: 'alice',
            action: 'incident.created',
            subject: { type: 'incident', id: STORY.mail },
            details: { incident_type: 'phishing', severity: 'high', source: 'email-gateway' },
            hash: '8af7209b72f1a274d0ea8cfeb0ac5b103c92c71636897e1ee3ebbcf6af5687b7',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  verifyAudit: {
    valid: {
      summary: 'Every entry is as it was written',
      status: 200,
      answer: { data: { valid: true, checked: 1284, unsealed: 3 } },
    },
  },
  exportAudit: {
    lines: {
      summary: 'Header, one entry, end',
      query: { from: '2026-01-31T00:00:00Z' },
      status: 200,
      answer: EXPORT,
    },
  },
};
