import type { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import type { Settings } from '../../platform/config/settings.js';
import type { Action } from '../action.js';
import type { ActionExecutor } from './action-executor.js';
import type { BusyConnectors, ClaimRepository } from './claim.repository.js';
import type { Claims } from './claims.js';
import { MOST_PER_CONNECTOR } from './action-connectors.js';
import { LapsedClaims } from './action-recovery.js';

const accepted = (id: string, connectorId: string): Action =>
  ({
    id,
    connector_id: connectorId,
    action_type: 'isolate_host',
    phase: 'accepted',
    sent: true,
    fence: 1,
  }) as Action;

/** The 100 oldest actions have one connector, more than its places; the newest has another. */
const QUEUE = [
  ...Array.from({ length: 100 }, (_, n) => accepted(`hanging-${n}`, 'hanging')),
  accepted('other', 'fine'),
];

describe('LapsedClaims', () => {
  const lookAgain = jest.fn();
  const report = jest.fn();
  const resume = jest.fn<Promise<Action>, [Action, Connector]>();
  const giveUp = jest.fn(async (action: Action) => action);
  let table: Map<string, Action>;
  let tooLate: readonly Action[];
  let bounds: BusyConnectors;
  let takeOver: jest.Mock<Promise<Action[]>, [readonly Action[]]>;
  let claims: LapsedClaims;

  beforeEach(() => {
    jest.resetAllMocks();
    resume.mockImplementation(() => new Promise(() => undefined));
    table = new Map(QUEUE.map((action) => [action.id, action]));
    tooLate = [];
    const repository: Pick<ClaimRepository, 'lapsed'> = {
      lapsed: async (limit, busy) => {
        bounds = busy;
        const waiting = [...table.values()].filter(
          ({ connector_id }) => !busy.polled.includes(connector_id!),
        );
        return [...tooLate, ...waiting].slice(0, limit);
      },
    };
    takeOver = jest.fn(async (left: readonly Action[]) => {
      for (const { id } of left) table.delete(id);
      return [...left];
    });
    const registry = {
      find: async (id: string) => ({ identity: { id }, probe: id === 'hanging' && (() => 0) }),
    };
    claims = new LapsedClaims(
      { resume, giveUp } as unknown as ActionExecutor,
      { takeOver, requeue: async () => 0 } as unknown as Claims,
      repository as ClaimRepository,
      registry as unknown as ConnectorRegistry,
      { actionDeadlineMs: 900_000, actionLeaseMs: 60_000 } as Settings,
    );
  });

  const settle = () => claims.settleOldest({ lookAgain, report });
  const asked = () => resume.mock.calls.map(([{ id }]) => id);
  const OLDEST = QUEUE.slice(0, MOST_PER_CONNECTOR).map(({ id }) => id);

  it('asks each connector at most as often as it has places', async () => {
    expect(await settle()).toBe(MOST_PER_CONNECTOR);
    expect(asked()).toEqual(OLDEST);
    expect(await settle()).toBe(1);
    expect(asked()).toEqual([...OLDEST, 'other']);
    expect(await settle()).toBe(0);
  });

  it('leaves actions without a place in the table for any replica', async () => {
    await settle();
    expect(table.size).toBe(QUEUE.length - MOST_PER_CONNECTOR);
  });

  it('excludes busy connectors from the search, and names those that can be probed', async () => {
    await settle();
    await settle();
    const waitsFor = { acceptedForMs: 900_000, lapsedForMs: 60_000 };
    expect(bounds).toEqual({ polled: ['hanging'], probed: ['hanging'], ...waitsFor });
  });

  it('ends an action without a question if it waited too long for a place', async () => {
    await settle();
    tooLate = [accepted('late', 'hanging')];
    await settle();
    expect(giveUp.mock.calls.map(([{ id }]) => id)).toEqual(['late']);
    expect(asked()).not.toContain('late');
  });

  it('asks about the next action after an answer or a failed question', async () => {
    const broken = new Error('No database.');
    resume.mockImplementationOnce(async (action) => action);
    resume.mockImplementationOnce(() => Promise.reject(broken));
    await settle();
    await new Promise(setImmediate);
    expect(report).toHaveBeenCalledWith(broken);
    expect(lookAgain).toHaveBeenCalledTimes(2);
    await settle();
    expect(asked().filter((id) => id !== 'other')).toHaveLength(MOST_PER_CONNECTOR + 2);
  });

  it('releases the place if another replica takes the claim or the database is down', async () => {
    takeOver.mockImplementationOnce(async () => []);
    expect(await settle()).toBe(0);
    takeOver.mockImplementationOnce(() => Promise.reject(new Error('No database.')));
    await expect(settle()).rejects.toThrow('No database.');
    await settle();
    expect(asked()).toHaveLength(MOST_PER_CONNECTOR);
  });
});
