import { type Comparison, inTurns, type Pair, type PairShot, type Turns } from './in-turns.ts';
import { run, type Server } from './postgres.ts';
import { startBare, startService, type Target } from './processes.ts';
import { seedBare, seedService } from './seed.ts';

export interface BesidePlan extends Turns {
  readonly dist: string;
  readonly rows: number;
}

/** What a part of the comparison asks of both, once they run. */
export type ShotsFor = (targets: Pair<Target>) => Promise<readonly PairShot[]>;

const INCIDENTS = 500;

/** The service and the baseline on the same server with the same incidents, in turns. */
export async function besideBare(
  server: Server,
  plan: BesidePlan,
  shotsFor: ShotsFor,
): Promise<Comparison[]> {
  const serviceDatabase = await server.createDatabase('bench_service');
  const bareDatabase = await server.createDatabase('bench_bare');
  // The load requests the same action again and again.
  const settings = { ACTION_REPEAT_MINUTES: '0' };
  const service = await startService(plan.dist, serviceDatabase, settings);
  await seedService(serviceDatabase, plan.rows);
  await seedBare(bareDatabase, plan.rows);
  const targets = { service, bare: await startBare(bareDatabase) };
  const comparisons: Comparison[] = [];
  for (const shot of await shotsFor(targets)) {
    comparisons.push(await inTurns(shot, targets, plan));
  }
  await targets.service.stop();
  await targets.bare.stop();
  return comparisons;
}

/** The paths of some of the incidents that were seeded. */
export async function incidentPaths({ service, bare }: Pair<Target>, rest = '') {
  const paths = async ({ databaseUrl }: Target, table: string) => {
    const text = `select id from ${table} order by random() limit ${INCIDENTS}`;
    const rows = await run<{ id: string }>(databaseUrl, text);
    return rows.map(({ id }) => `/api/incidents/${id}${rest}`);
  };
  return {
    service: await paths(service, 'incidents'),
    bare: await paths(bare, 'bare_incidents'),
  };
}
