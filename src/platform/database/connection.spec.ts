import { nameFor } from './connection.js';

const often = (text: string): string | undefined => {
  for (let n = 0; n < 19; n += 1) expect(nameFor(text)).toBeUndefined();
  return nameFor(text);
};

describe('nameFor', () => {
  it('gives a frequent statement its own, stable name', () => {
    const text = 'UPDATE "triage_runs" SET "status" = $1 WHERE "id" = $2 RETURNING id';
    const name = often(text);
    expect(name).toMatch(/^t_[\w-]{24}$/);
    expect(nameFor(text)).toBe(name);
    expect(often('SELECT "one"."id" AS "one_id" FROM "one" WHERE "one"."id" = $1')).not.toBe(name);
  });

  it.each([
    'select id from incidents where status = $1 order by created_at',
    'update playbook_runs set fence = $1 returning *',
    'select * from incidents where id = $1',
    `insert into one (text) values ($1) -- ${'x'.repeat(8_000)}`,
    'begin',
  ])('gives no name to %.60s', (text) => {
    expect(often(text)).toBeUndefined();
    expect(nameFor(text)).toBeUndefined();
  });
});
