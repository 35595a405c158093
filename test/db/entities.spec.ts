import { IncidentEntity } from '../../src/incidents/incident.js';
import { useTestDatabase } from '../support/open-test-database.js';

/** Tables without an entity, with the reason. */
const WITHOUT_ENTITY: Readonly<Record<string, string>> = {
  action_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  action_counts: 'only the SQL of the counts writes and reads it',
  domain_events: 'a trigger turns its rows into work and deletes them in the same statement',
  idempotency_keys: 'only the SQL of repeated requests writes and reads it',
  incident_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  incident_counts: 'only the SQL of the counts writes and reads it',
  known_networks: 'only the SQL of logins writes and reads it',
  notification_deliveries:
    'a trigger inserts rows, and only the SQL of deliveries changes and reads them',
  notification_delivery_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  notification_delivery_counts: 'only the SQL of the counts writes and reads it',
  playbook_run_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  playbook_run_steps: 'only the SQL of runs writes and reads it',
  playbook_runs: 'only the SQL of runs writes and reads it',
  playbook_run_counts: 'only the SQL of the counts writes and reads it',
  webhook_event_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  webhook_event_counts: 'only the SQL of the counts writes and reads it',
  work: 'only the SQL of the work engine writes and reads it',
  work_lanes: 'only the SQL of the work engine writes and reads it',
  write_probe: 'only the function probe_writes, which the health check calls, writes it',
  schema_migrations: 'TypeORM makes it for itself',
};

describe('entities', () => {
  const { dataSource } = useTestDatabase();
  const names = async (text: string): Promise<string[]> =>
    (await dataSource.query<{ name: string }[]>(text)).map(({ name }) => name).sort();

  it('describe exactly the columns that the migrations create', async () => {
    // TypeORM would keep the expression of a generated column in its own table, so no entity declares a generated
    // column.
    await dataSource.query(
      'create table if not exists typeorm_metadata (type text, database text, schema text, "table" text, name text, value text)',
    );
    const generated = ['incident_number', 'classification'];
    const { columns } = dataSource.getMetadata(IncidentEntity);
    for (const column of columns.filter(({ propertyName }) => generated.includes(propertyName)))
      column.generatedType = 'STORED';
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.query('drop table typeorm_metadata');
    // Ignores statements that remove indexes and constraints. Only the migrations define these, so TypeORM would remove
    // them.
    const removal = /^(DROP INDEX "\w+"\."(ix|uq)_|ALTER TABLE "\w+" DROP CONSTRAINT "(ck|fk|uq)_)/;
    expect(upQueries.map(({ query }) => query).filter((one) => !removal.test(one))).toEqual([]);
  });

  it('give every index and constraint a name with a prefix of the project', async () => {
    const made = await names(`
      select indexrelid::regclass::text as name from pg_index join pg_class on oid = indrelid
        where relnamespace = 'public'::regnamespace
      union select conname from pg_constraint
        where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'c', 'f')`);
    expect(made.filter((name) => !/^"?(pk|uq|ck|fk|ix)_/i.test(name))).toEqual([]);
  });

  it('cover every table, except those listed with a reason', async () => {
    const made = await names(`
      select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')`);
    const described = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    expect(made).toEqual([...described, ...Object.keys(WITHOUT_ENTITY)].sort());
  });
});
