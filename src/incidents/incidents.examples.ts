import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const MAIL = {
  message_id: '<4f2a1c@mail.example.net>',
  sender: 'ceo@examp1e.com',
  recipient: 'finance@example.com',
  subject: 'Urgent wire transfer',
  received_at: '2026-01-31T09:29:41Z',
};

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
    { source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' },
    { source: 'raw_data', pointer: '/subject', value: 'Urgent wire transfer' },
    { source: 'raw_data', pointer: '/message_id', value: '<4f2a1c@mail.example.net>' },
  ],
  decided_by: 'system',
  model: 'rules',
  triage_id: STORY.triageRun,
};

const RESOLVED = {
  data: {
    id: STORY.mail,
    incident_number: 'INC-2026-0042',
    incident_type: 'phishing',
    severity: 'critical',
    status: 'resolved',
    source: 'email-gateway',
    title: 'CEO fraud against finance',
    raw_data: MAIL,
    fields: MAIL,
    verdict: VERDICT,
    recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
    resolution: 'The mail was deleted from all mailboxes.',
    created_at: '2026-01-31T09:42:00.006Z',
    updated_at: '2026-01-31T10:32:40.005Z',
    triaged_at: '2026-01-31T09:44:00.084Z',
    resolved_at: '2026-01-31T10:32:40.005Z',
    resolved_by: 'bob',
  },
};

export const INCIDENT_EXAMPLES: OperationExamples = {
  createIncident: {
    phishing: {
      summary: 'A mail that somebody reported',
      body: {
        incident_type: 'phishing',
        source: 'email-gateway',
        severity: 'high',
        raw_data: MAIL,
      },
      status: 201,
      answer: {
        data: {
          id: STORY.mail,
          incident_number: 'INC-2026-0042',
          status: 'open',
          created_at: '2026-01-31T09:42:00.006Z',
        },
      },
    },
    suspicious_login: {
      summary: 'A login, with a title of its own',
      body: {
        incident_type: 'suspicious_login',
        source: 'identity-provider',
        title: 'j.doe logged in from two countries within an hour',
        raw_data: { user: 'j.doe@example.com', ip: '203.0.113.7' },
      },
      status: 201,
      answer: {
        data: {
          id: STORY.strangeLogin,
          incident_number: 'INC-2026-0043',
          status: 'open',
          created_at: '2026-01-31T09:42:40.002Z',
        },
      },
    },
    validation_error: {
      summary: 'Three fields are wrong',
      body: { incident_type: 'Phishing', severity: 'urgent' },
      status: 422,
      answer: refused(
        'validation_error',
        'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter. (and 2 more)',
        {
          details: {
            errors: [
              {
                field: 'incident_type',
                code: 'matches',
                message:
                  'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter.',
              },
              { field: 'source', code: 'required', message: 'source is required.' },
              {
                field: 'severity',
                code: 'is_in',
                message:
                  'severity must be one of the following values: low, medium, high, critical.',
              },
            ],
          },
        },
      ),
    },
  },
  listIncidents: {
    severe_mails: {
      summary: 'Severe mails that nobody has resolved, the worst and oldest first',
      query: {
        status: 'open,triaged',
        severity: 'high,critical',
        type: 'phishing',
        source: 'email-gateway',
        sort: '-severity,created_at',
      },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.mail,
            incident_number: 'INC-2026-0042',
            incident_type: 'phishing',
            severity: 'high',
            status: 'triaged',
            source: 'email-gateway',
            title: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com',
            created_at: '2026-01-31T09:42:00.006Z',
            updated_at: '2026-01-31T09:44:00.084Z',
            classification: 'malicious',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
    malicious: {
      summary: 'What was malicious and is resolved, resolved last first',
      query: { classification: 'malicious', status: 'resolved', sort: '-resolved_at' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.mail,
            incident_number: 'INC-2026-0042',
            incident_type: 'phishing',
            severity: 'critical',
            status: 'resolved',
            source: 'email-gateway',
            title: 'CEO fraud against finance',
            created_at: '2026-01-31T09:42:00.006Z',
            updated_at: '2026-01-31T10:32:40.005Z',
            classification: 'malicious',
            resolved_at: '2026-01-31T10:32:40.005Z',
            resolved_by: 'bob',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  getIncident: {
    triaged: {
      summary: 'Triaged by the rules',
      path: { id: STORY.mail },
      status: 200,
      answer: {
        data: {
          id: STORY.mail,
          incident_number: 'INC-2026-0042',
          incident_type: 'phishing',
          severity: 'high',
          status: 'triaged',
          source: 'email-gateway',
          title: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com',
          raw_data: MAIL,
          fields: MAIL,
          verdict: VERDICT,
          recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
          created_at: '2026-01-31T09:42:00.006Z',
          updated_at: '2026-01-31T09:44:00.084Z',
          triaged_at: '2026-01-31T09:44:00.084Z',
        },
      },
    },
    resolved: { summary: 'Resolved', path: { id: STORY.mail }, status: 200, answer: RESOLVED },
    not_found: {
      summary: 'There is no such incident',
      path: { id: STORY.strangeLogin },
      status: 404,
      answer: refused('not_found', 'Incident not found.'),
    },
  },
  updateIncident: {
    rate_again: {
      summary: 'Rate it again, if nobody changed it meanwhile',
      path: { id: STORY.mail },
      headers: { 'If-Match': '"2"' },
      body: { severity: 'critical', title: 'CEO fraud against finance' },
      status: 200,
      answer: {
        data: {
          id: STORY.mail,
          incident_number: 'INC-2026-0042',
          incident_type: 'phishing',
          severity: 'critical',
          status: 'triaged',
          source: 'email-gateway',
          title: 'CEO fraud against finance',
          raw_data: MAIL,
          fields: MAIL,
          verdict: VERDICT,
          recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
          created_at: '2026-01-31T09:42:00.006Z',
          updated_at: '2026-01-31T09:48:40.003Z',
          triaged_at: '2026-01-31T09:44:00.084Z',
        },
      },
    },
    precondition_failed: {
      summary: 'Somebody changed it meanwhile',
      path: { id: STORY.mail },
      headers: { 'If-Match': '"2"' },
      body: { severity: 'high' },
      status: 412,
      answer: refused('precondition_failed', 'The resource has changed: its ETag is now "3".'),
    },
    decide_by_hand: {
      summary: 'Decide by hand',
      path: { id: STORY.strangeLogin },
      body: {
        verdict: {
          classification: 'benign',
          confidence: 0.9,
          category: 'legitimate',
          reasoning: 'j.doe was on a flight with Wi-Fi, and confirms it.',
        },
      },
      status: 200,
      answer: {
        data: {
          id: STORY.strangeLogin,
          incident_number: 'INC-2026-0043',
          incident_type: 'suspicious_login',
          severity: 'medium',
          status: 'triaged',
          source: 'identity-provider',
          title: 'j.doe logged in from two countries within an hour',
          raw_data: { user: 'j.doe@example.com', ip: '203.0.113.7' },
          fields: { user: 'j.doe@example.com', ip: '203.0.113.7' },
          verdict: {
            classification: 'benign',
            confidence: 0.9,
            category: 'legitimate',
            reasoning: 'j.doe was on a flight with Wi-Fi, and confirms it.',
            indicators: [
              { type: 'user', value: 'j.doe@example.com', found_in: '/user' },
              { type: 'email', value: 'j.doe@example.com', found_in: '/user' },
              { type: 'domain', value: 'example.com', found_in: '/user' },
              { type: 'ip', value: '203.0.113.7', found_in: '/ip' },
            ],
            mitre_techniques: [],
            evidence: [],
            decided_by: 'alice',
            proposed: {
              classification: 'inconclusive',
              confidence: 0.25,
              category: 'unknown',
              reasoning:
                'Inconclusive: the event has no sign of an attack that the rules know, and no proof that it is harmless. The event does not say: whether the sign-in succeeded; the device; the second factor. To settle it: lookup_ip of 203[.]0[.]113[.]7 (whether the address is known for attacks).',
              triage_id: STORY.queuedRun,
            },
          },
          recommended_actions: ['lookup_ip', 'create_ticket'],
          created_at: '2026-01-31T09:42:40.002Z',
          updated_at: '2026-01-31T09:50:00.003Z',
          triaged_at: '2026-01-31T09:50:00.003Z',
        },
      },
    },
    validation_error: {
      summary: 'There is no such severity',
      path: { id: STORY.mail },
      body: { severity: 'none' },
      status: 422,
      answer: refused(
        'validation_error',
        'severity must be one of the following values: low, medium, high, critical.',
        {
          details: {
            errors: [
              {
                field: 'severity',
                code: 'is_in',
                message:
                  'severity must be one of the following values: low, medium, high, critical.',
              },
            ],
          },
        },
      ),
    },
    resolve: {
      summary: 'Resolve it',
      path: { id: STORY.mail },
      body: { status: 'resolved', resolution: 'The mail was deleted from all mailboxes.' },
      status: 200,
      answer: RESOLVED,
    },
  },
  deleteIncident: {
    deleted: {
      summary: 'It is hidden',
      path: { id: STORY.strangeLogin },
      status: 200,
      answer: { data: { id: STORY.strangeLogin, deleted: true } },
    },
  },
  listIncidentTimeline: {
    first: {
      summary: 'The first four entries',
      path: { id: STORY.mail },
      query: { per_page: '4' },
      status: 200,
      answer: {
        data: [
          {
            at: '2026-01-31T09:42:00.006Z',
            event: 'created',
            actor: 'alice',
            summary: 'Created from email-gateway.',
          },
          {
            at: '2026-01-31T09:44:00.082Z',
            event: 'triage_completed',
            actor: 'alice',
            summary:
              'rules found it malicious (phishing), confidence 0.85. Malicious: phishing from ceo[@]examp1e[.]com to finance[@]example[.]com. A host borrows the name of an organisation that it does not belong to ("examp1e[.]com"). Payments are to go to another account than before ("wire transfer"). The text hurries its reader ("urgent"). Evidence: /sender is "ceo[@]examp1e[.]com", /subject is "Urgent wire transfer", /message_id is "<4f2a1c[@]mail[.]example[.]net>".',
            subject: { type: 'triage', id: STORY.triageRun },
          },
          {
            at: '2026-01-31T09:44:00.087Z',
            event: 'triaged',
            actor: 'alice',
            summary: 'Triaged as malicious (phishing).',
            subject: { type: 'triage', id: STORY.triageRun },
          },
          {
            at: '2026-01-31T09:44:00.087Z',
            event: 'updated',
            actor: 'alice',
            summary: 'Changed the recommended actions.',
            subject: { type: 'triage', id: STORY.triageRun },
            details: {
              changes: [
                {
                  field: 'recommended_actions',
                  from: [],
                  to: ['quarantine_email', 'block_sender', 'lookup_domain'],
                },
              ],
            },
          },
        ],
        meta: { page: 1, per_page: 4, total: 36 },
      },
    },
    last: {
      summary: 'The last two, for whoever takes over',
      path: { id: STORY.mail },
      query: { per_page: '2', sort: '-at' },
      status: 200,
      answer: {
        data: [
          {
            at: '2026-01-31T10:33:20.005Z',
            event: 'action_requested',
            actor: 'alice',
            summary: 'Requested block_ip "203.0.113.7", which waits for approval at level analyst.',
            subject: { type: 'action', id: STORY.lateBlock },
            details: {
              action_type: 'block_ip',
              target: '203.0.113.7',
              parameters: { ip: '203.0.113.7' },
            },
          },
          {
            at: '2026-01-31T10:32:40.005Z',
            event: 'resolved',
            actor: 'bob',
            summary: 'Resolved: The mail was deleted from all mailboxes.',
            details: { resolution: 'The mail was deleted from all mailboxes.' },
          },
        ],
        meta: { page: 1, per_page: 2, total: 36 },
      },
    },
  },
};
