import { newId } from '../../src/platform/ids.js';
import {
  carryPlaybooksOverRestore,
  notePlaybooksBeforeRestore,
  type PlaybooksAcrossRestore,
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
  const autoRuns = () => transactions.run((tx) => playbooks.autoRuns(tx));
  /** What `work` does since the backup is taken back between the two steps, as a restore does. */
  const restoreAfter = async (work: () => Promise<unknown>) => {
    await query('drop table if exists kept, kept_versions');
    await query('create table kept as select * from playbooks');
    await query('create table kept_versions as select * from playbook_versions');
    await work();
    return await transactions.run<PlaybooksAcrossRestore>(async (tx) => {
      await notePlaybooksBeforeRestore(tx);
      await tx.query('alter table playbook_versions disable trigger user');
      await tx.query('delete from playbook_versions');
      await tx.query('delete from playbooks');
      await tx.query('insert into playbooks select * from kept');
      await tx.query('insert into playbook_versions select * from kept_versions');
      await tx.query('alter table playbook_versions enable trigger user');
      return await carryPlaybooksOverRestore(tx);
    });
  };

  beforeEach(async () => {
    await query('alter table playbook_versions disable trigger user');
    await query('delete from playbook_versions');
    await query('delete from playbooks');
    await query('alter table playbook_versions enable trigger user');
  });

  it('keep every flag off that was switched off, as a new version by the author of the restored one', async () => {
    const id = await add('contain', AUTOMATIC);
    const across = await restoreAfter(async () => {
      await change(id, 'contain', { ...AUTOMATIC, auto_run: false });
      await change(id, 'contain', { ...AUTOMATIC, auto_run: false, trust_verdict: false });
    });
    expect(across).toEqual({ deleted: 0, restricted: 1 });
    const restored = await playbooks.find(id);
    expect(restored).toMatchObject({ version: 4, updated_by: 'author' });
    expect(restored!.definition).toEqual({ ...AUTOMATIC, auto_run: false, trust_verdict: false });
    expect(
      await query('select version, changed_by from playbook_versions order by version'),
    ).toEqual([
      { version: 1, changed_by: 'author' },
      { version: 4, changed_by: 'author' },
    ]);
    expect(await autoRuns()).toEqual([]);
  });

  it('stay deleted or disabled, and unchanged ones keep their version', async () => {
    const [deleted, disabled, same] = [
      await add('deleted', AUTOMATIC),
      await add('disabled', AUTOMATIC),
      await add('same', AUTOMATIC),
    ];
    const across = await restoreAfter(async () => {
      await query(`update playbooks set deleted_at = now() where id = '${deleted}'`);
      await change(disabled, 'disabled', { ...AUTOMATIC, enabled: false });
    });
    expect(across).toEqual({ deleted: 1, restricted: 1 });
    expect(await playbooks.find(deleted)).toBeUndefined();
    expect((await autoRuns()).map(({ id }) => id)).toEqual([same]);
    expect(await playbooks.find(same)).toMatchObject({ version: 1 });
  });
});
