import { IncidentEntity } from '../../src/incidents/incident.js';
import { useTestDatabase } from '../support/open-test-database.js';

/** Tables without an entity, and why. */
const WITHOUT_ENTITY: Readonly<Record<string, string>> = {
  action_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  action_counts: 'only the SQL of the counts writes and reads it',
  incident_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  incident_counts: 'only the SQL of the counts writes and reads it',
  notification_delivery_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  notification_delivery_counts: 'only the SQL of the counts writes and reads it',
  playbook_run_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  playbook_run_counts: 'only the SQL of the counts writes and reads it',
  webhook_event_count_deltas: 'a trigger writes it and the SQL of the counts takes from it',
  webhook_event_counts: 'only the SQL of the counts writes and reads it',
  write_probe: 'only the function probe_writes, which the health check calls, writes it',
  schema_migrations: 'TypeORM makes it for itself',
};

describe('entities', () => {
  const { dataSource } = useTestDatabase();
  const names = async (text: string): Promise<string[]> =>
    (await dataSource.query<{ name: string }[]>(text)).map(({ name }) => name).sort();

  it('describe exactly the schema that the migrations create', async () => {
    // If an entity declares a generated column, TypeORM keeps its expression in a table of its own. So no entity does.
    await dataSource.query(
      'create table if not exists typeorm_metadata (type text, database text, schema text, "table" text, name text, value text)',
    );
    const generated = ['incident_number', 'classification'];
    const { columns } = dataSource.getMetadata(IncidentEntity);
    for (const column of columns.filter(({ propertyName }) => generated.includes(propertyName)))
      column.generatedType = 'STORED';
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.query('drop table typeorm_metadata');
    expect(upQueries).toEqual([]);
  });

  // TypeORM compares some of them by what they do, and those that it cannot describe not at all.
  it('give every index and constraint its name in the database', async () => {
    const { entityMetadatas } = dataSource;
    const described = entityMetadatas.flatMap((table) => [
      ...[table.indices, table.uniques, table.checks, table.foreignKeys].flat(),
      { name: table.primaryColumns[0]?.primaryKeyConstraintName },
    ]);
    const tables = entityMetadatas.map(({ tableName }) => `'${tableName}'`).join();
    const made = await names(`
      select indexrelid::regclass::text as name from pg_index
        where indrelid::regclass::text in (${tables})
      union select conname from pg_constraint
        where conrelid::regclass::text in (${tables}) and contype in ('p', 'u', 'c', 'f')`);
    expect(made).toEqual(described.map(({ name }) => name).sort());
  });

  it('cover every table, except those listed with a reason', async () => {
    const made = await names(`
      select relname as name from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')`);
    const described = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    expect(made).toEqual([...described, ...Object.keys(WITHOUT_ENTITY)].sort());
  });
});
