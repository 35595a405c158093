import { createRequire } from 'node:module';
import { ActionEndings } from '../../../src/actions/execution/action-endings.js';
import { ActionWork } from '../../../src/actions/execution/action-work.js';
import { ConnectorCalls } from '../../../src/actions/execution/connector-calls.js';
import { Work } from '../../../src/platform/work/work.js';
import { WorkRepository } from '../../../src/platform/work/work.repository.js';
import { eventually } from '../jobs/eventually.js';
import type { TestApp } from '../test-app.js';

type Name =
  | 'unclaimed'
  | 'claimed'
  | 'sending'
  | 'answered'
  | 'vendorAccepted'
  | 'finishing'
  | 'finished'
  | 'renewing';

const shared = createRequire(__filename)('./failpoints.cjs') as {
  readonly FAILPOINT: Readonly<Record<Name, number>>;
  readonly watchExecution: (parts: object, hit: (point: number) => Promise<void>) => void;
};
export const { FAILPOINT } = shared;

type Hit = (point: number) => Promise<void>;

interface Watched {
  hit: Hit;
  revive: () => void;
}
const watched = new WeakMap<TestApp, Watched>();
const alive = (): Watched => ({ hit: async () => undefined, revive: () => undefined });

function watch(app: TestApp): Watched {
  const known = watched.get(app);
  if (known) return known;
  const state = alive();
  const get = <T extends object>(type: abstract new (...args: never[]) => T): T =>
    app.nest.get<T>(type, { strict: false });
  const parts = {
    repository: get(WorkRepository),
    worker: get(Work)['worker'],
    work: get(ActionWork),
    calls: get(ConnectorCalls),
    endings: get(ActionEndings),
  };
  shared.watchExecution(parts, (point) => state.hit(point));
  watched.set(app, state);
  return state;
}

/**
 * Simulates that the replica is killed when an execution next reaches the point. From then on, its worker claims,
 * renews, notes and ends nothing.
 */
export function crashAt(app: TestApp, point: number): { readonly crashed: Promise<void> } {
  const state = watch(app);
  const reached = Promise.withResolvers<void>();
  const grave = Promise.withResolvers<never>();
  grave.promise.catch(() => undefined);
  let isDead = false;
  state.hit = (at) => {
    if (at === point) {
      isDead = true;
      reached.resolve();
    }
    return isDead ? grave.promise : Promise.resolve();
  };
  state.revive = () => grave.reject(new Error('The replica was dead.'));
  return { crashed: reached.promise };
}

/** Starts the replica again. Its unfinished executions must fail and end before the next crash. */
export async function revive(app: TestApp): Promise<void> {
  const state = watch(app);
  state.revive();
  Object.assign(state, alive());
  const { claims } = app.nest.get(Work)['worker'] as unknown as { claims: ReadonlySet<unknown> };
  await eventually(() => claims.size === 0);
}
