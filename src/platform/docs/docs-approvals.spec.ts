import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Fact {
  readonly label: string;
  readonly value: string;
}

interface Approvals {
  factsOf(action: object, types: readonly object[]): readonly Fact[];
  visible(text: string): string;
  listOf(levels: string): string;
}

const required = (name: string) => ({ name, required: true });
const optional = (name: string) => ({ name, required: false });
const TYPES = [
  {
    name: 'delete_email',
    parameters: [required('message_id'), optional('recipient'), optional('reason')],
  },
];

describe('an action that waits for approval, as shown in /docs', () => {
  let approvals: Approvals;
  beforeAll(async () => {
    const file = pathToFileURL(join(__dirname, 'browser/approvals.mjs')).href;
    approvals = (await import(file)) as Approvals;
  });

  const facts = (parameters: object, action_type = 'delete_email') =>
    approvals
      .factsOf(
        {
          action_type,
          parameters,
          requested_by: 'bob',
          approval_level: 'senior',
          expires_at: null,
        },
        TYPES,
      )
      .map(({ label, value }) => `${label}=${value}`);

  it('begins with the whole target, however long the target is', () => {
    const [long, other] = ['m'.repeat(4_096), 'r'.repeat(4_096)];
    expect(facts({ reason: 'Because.', recipient: other, message_id: long })).toEqual([
      `message_id=${long}`,
      `recipient=${'r'.repeat(120)}…`,
      'requested by=bob',
      'needs=senior',
    ]);
  });

  it('shows the severity of its incident', () => {
    const incident = { severity: 'critical', incident_number: 'INC-2026-0042', title: 'A' };
    const told = approvals.factsOf({ action_type: 'x', requested_by: 'bob', incident }, []);
    expect(told.at(-1)).toEqual({ label: 'severity', value: 'critical' });
  });

  it('is loaded if the reader has its level, the oldest action first', () => {
    expect(approvals.listOf('analyst,senior')).toBe(
      '/api/actions?status=pending_approval&approval_level=analyst,senior&sort=requested_at&per_page=20',
    );
  });

  it('is not truncated if its type is unknown', () => {
    const long = 'x'.repeat(500);
    expect(facts({ a: long, b: 7 }, 'newer_type').slice(0, 2)).toEqual([`a=${long}`, 'b=7']);
  });

  it('shows times in UTC, as messages do', () => {
    const told = approvals.factsOf(
      { action_type: 'x', requested_by: 'bob', expires_at: '2026-01-31T13:30:59.000Z' },
      [],
    );
    expect(told).toContainEqual({ label: 'until', value: '2026-01-31 13:30 UTC' });
  });

  it('shows marks in place of invisible characters', () => {
    expect(approvals.visible('a\u202eb\u200dc\u009bd\u{e0041}é\n')).toBe(
      'a⟦U+202E⟧b⟦U+200D⟧c⟦U+009B⟧d⟦U+E0041⟧é⟦U+000A⟧',
    );
  });
});
