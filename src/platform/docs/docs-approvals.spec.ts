import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Approvals {
  factsOf(action: object): readonly (readonly [label: string, value: string])[];
  visible(text: string): string;
  listOf(levels: string): string;
}

describe('an action that waits for approval, as shown in /docs', () => {
  let approvals: Approvals;
  beforeAll(async () => {
    const file = pathToFileURL(join(__dirname, 'browser/approvals.mjs')).href;
    approvals = (await import(file)) as Approvals;
  });

  const ASKED = { action_type: 'delete_email', requested_by: 'bob', approval_level: 'senior' };

  it('begins with facts of the service, and ends with words of strangers', () => {
    const parameters = { reason: 'Because.', recipient: 'r'.repeat(4_096), message_id: 7 };
    const incident = { severity: 'critical', incident_number: 'INC-2026-0042', title: 'A' };
    const preview = { message: '2 mails' };
    const expires_at = '2026-01-31T13:30:59.000Z';
    const action = { ...ASKED, parameters, incident, preview, expires_at };
    expect(approvals.factsOf(action)).toEqual([
      ['requested by', 'bob'],
      ['needs', 'senior'],
      ['severity', 'critical'],
      ['until', '2026-01-31 13:30 UTC'],
      ['recipient', 'r'.repeat(4_096)],
      ['message_id', '7'],
      ['would touch', '2 mails'],
      ['reason', 'Because.'],
      ['INC-2026-0042', 'A'],
    ]);
  });

  it('has no facts that the action does not have', () => {
    expect(approvals.factsOf(ASKED)).toEqual([
      ['requested by', 'bob'],
      ['needs', 'senior'],
    ]);
  });

  it('is loaded if the reader has its level, the oldest action first', () => {
    expect(approvals.listOf('analyst,senior')).toBe(
      '/api/actions?status=pending_approval&approval_level=analyst,senior&sort=requested_at&per_page=20',
    );
  });

  it('shows marks in place of invisible characters', () => {
    expect(approvals.visible('a\u202eb\u200dc\u009bd\u{e0041}é\n')).toBe(
      'a⟦U+202E⟧b⟦U+200D⟧c⟦U+009B⟧d⟦U+E0041⟧é⟦U+000A⟧',
    );
  });
});
