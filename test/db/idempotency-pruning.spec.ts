import { DataSource } from 'typeorm';
import { pruneKeys } from '../../src/platform/idempotency/idempotency.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('pruneKeys', () => {
  const { dataSource, query } = useTestDatabase();

  it('deletes in batches only the keys that are older than 24 hours', async () => {
    await query(`
      insert into idempotency_keys (principal, key, fingerprint, owner, status, body, sealed, kept_at)
      select 'ana', 'key ' || n, '', gen_random_uuid(), 201, '{}', false, now() - n * interval '30 seconds'
      from generate_series(1, 5000) as n`);
    const sent = jest.spyOn(DataSource.prototype, 'query');
    await pruneKeys(dataSource);
    const [left] = await query(
      `select count(*)::int as n, min(kept_at) > now() - interval '24 hours' as young from idempotency_keys`,
    );
    expect(left).toEqual({ n: 2_879, young: true });
    const batches = sent.mock.calls.filter(([text]) => text.includes('skip locked'));
    expect(batches).toHaveLength(3);
    sent.mockRestore();
    const plan = await query(
      `explain select principal, key from idempotency_keys where kept_at <= now() - interval '24 hours' order by kept_at limit 10`,
    );
    expect(JSON.stringify(plan)).toContain('ix_idempotency_keys_kept_at');
  });
});
