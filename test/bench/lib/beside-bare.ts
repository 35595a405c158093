import { type Load, load, median } from './load.ts';
import { run, type Server } from './postgres.ts';
import { startBare, startService } from './processes.ts';
import { seedBare, seedService } from './seed.ts';

export interface Comparison {
  readonly what: string;
  readonly goal: number;
  readonly service: Load;
  readonly bare: Load;
  /** Throughput of the service by that of the baseline, the median of all rounds. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

export interface BesidePlan {
  readonly dist: string;
  readonly seconds: number;
  readonly rounds: number;
  readonly rows: number;
}

const WARM_UP_SECONDS = 2;

const CREATE = JSON.stringify({
  incident_type: 'phishing',
  severity: 'high',
  source: 'email-gateway',
  raw_data: {
    message_id: '<4f2a1c@mail.example.net>',
    sender: 'ceo@examp1e.com',
    recipient: 'finance@example.com',
    subject: 'Urgent wire transfer',
    received_at: '2026-01-31T09:29:41Z',
  },
});

/** The service and the baseline on the same server with the same rows, in turns. */
export async function besideBare(server: Server, plan: BesidePlan): Promise<Comparison[]> {
  const serviceDatabase = await server.createDatabase('bench_service');
  const bareDatabase = await server.createDatabase('bench_bare');
  const service = await startService(plan.dist, serviceDatabase);
  await seedService(serviceDatabase, plan.rows);
  await seedBare(bareDatabase, plan.rows);
  const bare = await startBare(bareDatabase);
  const paths = async (url: string, table: string) =>
    (await run<{ id: string }>(url, `select id from ${table} order by random() limit 500`)).map(
      ({ id }) => `/api/incidents/${id}`,
    );
  const reads = {
    service: await paths(serviceDatabase, 'incidents'),
    bare: await paths(bareDatabase, 'bare_incidents'),
  };
  const list = { service: ['/api/incidents'], bare: ['/api/incidents'] };
  const shots = [
    { what: 'get by id', goal: 0.6, method: 'GET' as const, paths: reads },
    { what: 'list of 20 with exact total', goal: 3, method: 'GET' as const, paths: list },
    { what: 'create', goal: 0.8, method: 'POST' as const, paths: list, body: CREATE },
  ];
  const comparisons: Comparison[] = [];
  try {
    for (const { what, goal, paths: by, ...shot } of shots) {
      const fire = {
        service: (seconds: number) => load(service, { ...shot, paths: by.service }, seconds),
        bare: (seconds: number) => load(bare, { ...shot, paths: by.bare }, seconds),
      };
      comparisons.push({ what, goal, ...(await inTurns(fire, plan)) });
    }
  } finally {
    await service.stop();
    await bare.stop();
  }
  return comparisons;
}

type Kind = 'service' | 'bare';

async function inTurns(
  fire: Record<Kind, (seconds: number) => Promise<Load>>,
  { rounds, seconds }: BesidePlan,
): Promise<Omit<Comparison, 'what' | 'goal'>> {
  const loads: Record<Kind, Load[]> = { service: [], bare: [] };
  for (const kind of ['bare', 'service'] as const) await fire[kind](WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['bare', 'service'] as const) : (['service', 'bare'] as const);
    for (const kind of order) loads[kind].push(await fire[kind](seconds));
  }
  const ratios = loads.service.map(
    ({ perSecond }, round) => perSecond / loads.bare[round]!.perSecond,
  );
  return {
    service: middle(loads.service),
    bare: middle(loads.bare),
    ratio: median(ratios),
    ratios,
  };
}

function middle(loads: readonly Load[]): Load {
  return {
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    p50: median(loads.map(({ p50 }) => p50)),
    p99: median(loads.map(({ p99 }) => p99)),
  };
}
