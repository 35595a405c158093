import { latencies, median, percentile } from './load.ts';
import type { Server } from './postgres.ts';
import { startService, type Target } from './processes.ts';
import { seedService } from './seed.ts';

export interface ListCost {
  readonly query: string;
  /** Milliseconds, one client. */
  readonly few: { readonly p50: number; readonly p99: number };
  readonly many: { readonly p50: number; readonly p99: number };
  readonly ratio: number;
  readonly goal?: number;
}

export interface ListsPlan {
  readonly dist: string;
  readonly rounds: number;
  readonly many: number;
}

const FEW = 1_000;
const REQUESTS = 100;

const SAME: readonly string[] = [
  '',
  '?page=50',
  '?status=open',
  '?status=resolved&page=50',
  '?severity=high',
  '?severity=high&page=50',
  '?type=phishing',
  '?type=phishing&page=50',
  '?source=email-gateway',
  '?source=email-gateway&page=50',
  '?sort=created_at',
];
const SHOWN: readonly string[] = [
  '?status=open,triaged&severity=high,critical',
  '?type=phishing,bec&status=open',
  '?source=edr&type=malware&status=open&severity=critical',
  '?sort=-severity',
  '?sort=-severity&status=open',
  '?sort=-severity,created_at',
  '?sort=-severity,-updated_at',
  '?sort=status',
  '?sort=source',
  '?sort=-incident_number',
  '?sort=-updated_at',
  '?sort=-triaged_at',
];

/** Two services, one over few and one over many incidents, asked in turns. */
export async function listsBySize(server: Server, plan: ListsPlan): Promise<ListCost[]> {
  const few = await seeded(server, plan, FEW);
  const many = await seeded(server, plan, plan.many);
  const costs: ListCost[] = [];
  for (const query of SAME) costs.push({ ...(await compare(query, few, many, plan)), goal: 1.3 });
  for (const query of SHOWN) costs.push(await compare(query, few, many, plan));
  // Deep pages against the first one of the same list.
  for (const [page, goal] of [[500, 2], [25_000], [49_000]] as const) {
    const cost = await compare('', many, many, plan, `?page=${page}`);
    costs.push({ ...cost, query: `?page=${page} against page 1`, ...(goal && { goal }) });
  }
  await few.stop();
  await many.stop();
  return costs;
}

async function seeded(server: Server, plan: ListsPlan, count: number): Promise<Target> {
  const database = await server.createDatabase(`bench_lists_${count}`);
  const target = await startService(plan.dist, database);
  await seedService(database, count);
  return target;
}

async function compare(
  query: string,
  one: Target,
  other: Target,
  { rounds }: ListsPlan,
  otherQuery = query,
): Promise<ListCost> {
  const few: number[] = [];
  const many: number[] = [];
  for (let round = -1; round < rounds * 3; round += 1) {
    const [first, second] = [
      await latencies(one, `/api/incidents${query}`, REQUESTS),
      await latencies(other, `/api/incidents${otherQuery}`, REQUESTS),
    ];
    if (round < 0) continue;
    few.push(...first);
    many.push(...second);
  }
  return {
    query,
    few: { p50: median(few), p99: percentile(few, 0.99) },
    many: { p50: median(many), p99: percentile(many, 0.99) },
    ratio: median(many) / median(few),
  };
}
