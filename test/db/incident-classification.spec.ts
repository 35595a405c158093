import type { DataSource } from 'typeorm';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('The classification column of incidents', () => {
  const database = useTestDatabase();
  let dataSource: DataSource;

  beforeAll(async () => {
    ({ dataSource } = database);
  });

  const incident = async (status: string, verdict: object): Promise<string> => {
    const at = new Date();
    const id = newId(at.getTime());
    await dataSource.query(
      `insert into incidents (id, incident_type, severity, status, source, raw_data, created_by, created_at, updated_at, verdict)
       values ($1, 'bec', 'low', $2, 'test', '{}', 'ada', $3, $3, $4)`,
      [id, status, at, JSON.stringify(verdict)],
    );
    return id;
  };
  it('follows the verdict if a statement changes only the verdict', async () => {
    const id = await incident('triaged', { classification: 'suspicious' });
    const found = async () =>
      (
        await dataSource.query<{ classification: string | null }[]>(
          `select classification from incidents where id = $1`,
          [id],
        )
      )[0]!.classification;
    expect(await found()).toBe('suspicious');
    const set = (verdict: string | null) =>
      dataSource.query(`update incidents set verdict = $2 where id = $1`, [id, verdict]);
    await set('{"classification":"benign"}');
    expect(await found()).toBe('benign');
    await set(null);
    expect(await found()).toBeNull();
  });
});
