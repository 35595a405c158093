import { newId } from '../../src/platform/ids.js';
import {
  notePlaybooksBeforeRestore,
  renumberPlaybooksOverRestore,
} from '../../src/playbooks/playbooks-across-restore.js';
import { PlaybooksRepository } from '../../src/playbooks/playbooks.repository.js';
import { DEFAULT_DEFINITION, type PlaybookDefinition } from '../../src/playbooks/playbook.js';
import { useTestDatabase } from '../support/open-test-database.js';

const AUTOMATIC = { ...DEFAULT_DEFINITION, auto_run: true, trust_verdict: true };

describe('playbooks across a restore', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();
  const playbooks = new PlaybooksRepository(dataSource, statements);
  const add = async (name: string, definition: PlaybookDefinition): Promise<string> => {
    const id = newId();
    await transactions.run((tx) => playbooks.store(tx, { id, name, definition }, 'author'));
    return id;
  };
  const change = (id: string, name: string, definition: PlaybookDefinition): Promise<unknown> =>
    transactions.run((tx) => playbooks.store(tx, { id, name, definition }, 'manager'));
  /** What `work` does since the backup is taken back between the two steps, as a restore does. */
  const restoreAfter = async (work: () => Promise<unknown>) => {
    await query('drop table if exists kept, kept_versions');
    await query('create table kept as select * from playbooks');
    await query('create table kept_versions as select * from playbook_versions');
    await work();
    await transactions.run(async (tx) => {
      await notePlaybooksBeforeRestore(tx);
      await tx.query('alter table playbook_versions disable trigger user');
      await tx.query('delete from playbook_versions');
      await tx.query('delete from playbooks');
      await tx.query('insert into playbooks select * from kept');
      await tx.query('insert into playbook_versions select * from kept_versions');
      await tx.query('alter table playbook_versions enable trigger user');
      await renumberPlaybooksOverRestore(tx);
    });
  };

  beforeEach(async () => {
    await query('alter table playbook_versions disable trigger user');
    await query('delete from playbook_versions');
    await query('delete from playbooks');
    await query('alter table playbook_versions enable trigger user');
  });

  it('get a number that was never used and the author of the restored version, if they were changed', async () => {
    const [changed, same] = [await add('changed', AUTOMATIC), await add('same', AUTOMATIC)];
    await restoreAfter(async () => {
      await change(changed, 'changed', { ...AUTOMATIC, auto_run: false });
      await change(changed, 'changed', { ...AUTOMATIC, trust_verdict: false });
    });
    const restored = await playbooks.find(changed);
    expect(restored).toMatchObject({ version: 4, updated_by: 'author', definition: AUTOMATIC });
    expect(await playbooks.find(same)).toMatchObject({ version: 1 });
    expect(
      await query(
        `select version, changed_by from playbook_versions where playbook_id = '${changed}' order by version`,
      ),
    ).toEqual([
      { version: 1, changed_by: 'author' },
      { version: 4, changed_by: 'author' },
    ]);
  });
});
