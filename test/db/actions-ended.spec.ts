import type { Action } from '../../src/actions/action.js';
import type { ActionChanged, ActionRecorder } from '../../src/actions/action-records.js';
import type { Settings } from '../../src/platform/config/settings.js';
import { ActionsRepository } from '../../src/actions/actions.repository.js';
import { ActionEndings } from '../../src/actions/execution/action-endings.js';
import { Clock } from '../../src/platform/clock.js';
import { type ActionFields, insertAction, rowOf } from '../support/actions/action-table.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('the ends of actions', () => {
  const { dataSource, statements, transactions } = useTestDatabase();
  const recorded: ActionChanged[] = [];
  const recorder = {
    record: async (_, changes) => void recorded.push(...changes),
  } as Pick<ActionRecorder, 'record'>;
  const actions = new ActionsRepository(statements, { approvalTtlMinutes: 0 } as Settings);
  // Ends need no other parts.
  const endings = Reflect.construct(ActionEndings, [
    recorder,
    actions,
    new Clock(),
  ]) as ActionEndings;

  beforeEach(() => void recorded.splice(0));

  const inserted = async (fields: ActionFields = {}): Promise<Action> =>
    (await actions.findById(await insertAction(dataSource, fields)))!;
  const end = (...all: Parameters<ActionEndings['endAll']>[1]) =>
    transactions.run((tx) => endings.endAll(tx, all));
  const told = () => recorded.map(({ change, actor, action }) => [change, actor, action.id]);
  const result = (success: boolean) => ({ success, message: 'Done.' });

  it('are stored with the result, the connector and the person of each action', async () => {
    const [one, two] = [await inserted(), await inserted()];
    const ended = await end(
      { action: one, result: result(true), connectorId: 'vendor' },
      { action: two, result: result(false), by: 'system' },
    );
    expect(ended).toHaveLength(2);
    expect(await actions.findById(one.id)).toMatchObject({
      status: 'completed',
      executed_by: 'alice',
      executed_at: expect.any(Date),
      connector_id: 'vendor',
      result: result(true),
    });
    const after = await actions.findById(two.id);
    expect(after).toMatchObject({ status: 'failed', executed_by: 'system' });
    expect(after).not.toHaveProperty('connector_id');
    expect(told()).toEqual([
      ['completed', 'alice', one.id],
      ['failed', 'system', two.id],
    ]);
  });

  it('neither change nor record an action that ended before', async () => {
    const [ended, open] = [await inserted({ status: 'completed' }), await inserted()];
    const both = [ended, open].map((action) => ({ action, result: result(false) }));
    expect((await end(...both)).map(({ id }) => id)).toEqual([open.id]);
    expect((await rowOf(dataSource, ended.id)).status).toBe('completed');
    expect(told()).toEqual([['failed', 'alice', open.id]]);
  });

  it('without a result mark the action as rejected', async () => {
    const action = await inserted();
    expect(await end({ action })).toMatchObject([{ id: action.id, status: 'rejected' }]);
    expect(told()).toEqual([['rejected', 'system', action.id]]);
  });
});
