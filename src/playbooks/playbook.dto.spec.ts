import { checkPlaybook } from './language/check-playbook.js';
import { LANGUAGE_IN_WORDS } from './playbook.dto.js';

const problemsOf = (condition: string) => {
  const step = { name: 'look', action: 'lookup_ip', parameters: { ip: '192.0.2.1' }, condition };
  return checkPlaybook({ variables: {}, steps: [{ ...step, on_error: 'stop' }] });
};

describe('LANGUAGE_IN_WORDS', () => {
  it.each(['incident', 'verdict'])(
    'names only fields of %s that an expression can read',
    (root) => {
      const line = LANGUAGE_IN_WORDS.split('\n').find((one) => one.startsWith(`- \`${root}\``))!;
      const [, ...fields] = [...line.matchAll(/`(\w+)`/g)].map(([, field]) => field!);
      expect(fields.length).toBeGreaterThan(2);
      for (const field of fields) expect(problemsOf(`has(${root}.${field})`)).toEqual([]);
      expect(problemsOf(`has(${root}.nothing)`)).not.toEqual([]);
    },
  );
});
