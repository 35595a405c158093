import { incidentPaths } from './beside-bare.ts';
import type { Pair, PairShot } from './in-turns.ts';
import type { Target } from './processes.ts';

const CREATE = JSON.stringify({
  incident_type: 'phishing',
  severity: 'high',
  source: 'email-gateway',
  raw_data: {
    message_id: '<4f2a1c@mail.example.net>',
    sender: 'ceo@examp1e.com',
    recipient: 'finance@example.com',
    subject: 'Urgent wire transfer',
    received_at: '2026-01-31T09:29:41Z',
  },
});

export async function incidentShots(targets: Pair<Target>): Promise<readonly PairShot[]> {
  const one = await incidentPaths(targets);
  const all = { service: ['/api/incidents'], bare: ['/api/incidents'] };
  return [
    { what: 'get by id', goal: 0.6, method: 'GET', paths: one },
    { what: 'list of 20 with exact total', goal: 3, method: 'GET', paths: all },
    ...[32, 128].map((clients) => {
      const what = `create, ${clients} clients`;
      return { what, goal: 0.8, method: 'POST' as const, paths: all, body: CREATE, clients };
    }),
  ];
}
