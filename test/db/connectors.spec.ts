import { ConnectorsRepository } from '../../src/connectors/connectors.repository.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('the lanes of connectors', () => {
  const { dataSource, query, statements } = useTestDatabase();

  async function connector(deletedBefore: string | null): Promise<string> {
    const id = newId();
    await query(
      `insert into connectors (id, name, type, enabled, priority, config, deleted_at)
       values ($1::uuid, $1::text, 'sandbox', false, 1, '{}', now() - $2::interval)`,
      [id, deletedBefore],
    );
    return id;
  }

  it('are removed with their connector, but not before its work has ended', async () => {
    const ids = [
      await connector('61 minutes'),
      await connector('59 minutes'),
      await connector(null),
    ];
    const busy = await connector('61 minutes');
    await query(
      `insert into work (kind, ref, lane, urgency, ready, due_at) values ('ask', $1, $2, 2, true, now())`,
      [newId(), `ask.${busy}`],
    );
    await new ConnectorsRepository(dataSource, statements).removeLanesOfDeleted();
    const [, recent, present] = ids;
    const left = [recent, present].flatMap((id) => [`action.${id}`, `ask.${id}`]);
    const rows = await query<{ lane: string }[]>(
      'select lane from work_lanes where kind is not null',
    );
    expect(rows.map(({ lane }) => lane).sort()).toEqual([...left, `ask.${busy}`].sort());
  });
});
