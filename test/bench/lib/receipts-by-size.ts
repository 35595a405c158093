import { SENDER } from './deliveries.ts';
import { middle } from './in-turns.ts';
import { type Load, median } from './load.ts';
import { run, type Server } from './postgres.ts';
import { startService, type Target } from './processes.ts';
import { receiptLoad, RECEIPT_PATH, registerSender } from './receipt-load.ts';
import { seedService } from './seed.ts';

export interface ReceiptCost {
  readonly clients: number;
  /** Medians of the rounds. */
  readonly few: Load;
  readonly many: Load;
  /** Of the processor time of PostgreSQL for a receipt, and of the median time: many by few, the median of the rounds. */
  readonly ratio: { readonly postgres?: number; readonly p50: number };
  readonly goal: number;
}

export interface ReceiptsPlan {
  readonly dist: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly many: number;
}

const FEW = 1_000;
/** What may be measured of the same work on another day. */
const GOAL = 1.3;

/** Two services, one over a small inbox and one over a large one, in turns. */
export async function receiptsBySize(server: Server, plan: ReceiptsPlan): Promise<ReceiptCost[]> {
  const few = await seeded(server, plan, FEW);
  const many = await seeded(server, plan, plan.many);
  const costs: ReceiptCost[] = [];
  for (const clients of [50, 1]) costs.push(await compare(clients, few, many, plan));
  await few.stop();
  await many.stop();
  return costs;
}

async function seeded(server: Server, plan: ReceiptsPlan, count: number): Promise<Target> {
  const database = await server.createDatabase(`bench_receipts_${count}`);
  const target = await startService(plan.dist, database);
  await seedService(database, count);
  await seedInbox(database);
  await registerSender(target);
  return target;
}

/** An event for each incident, with all that a receipt leaves. */
async function seedInbox(url: string): Promise<void> {
  await run(
    url,
    `insert into webhook_events (id, source, status, body, body_hash, incident_ids, attempts, received_at, processed_at)
     select id, $1, 'processed', convert_to(raw_data::text, 'UTF8'), sha256(id::text::bytea), array[id], 1, created_at, created_at
       from incidents`,
    [SENDER.source],
  );
  await run(
    url,
    `insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
     select source, sha256(body_hash), array[body_hash], id, id from webhook_events`,
  );
  await run(url, 'vacuum analyze');
}

async function compare(
  clients: number,
  few: Target,
  many: Target,
  { rounds, seconds }: ReceiptsPlan,
): Promise<ReceiptCost> {
  const loads: { readonly few: Load[]; readonly many: Load[] } = { few: [], many: [] };
  for (let round = -1; round < rounds; round += 1) {
    const small = await receiptLoad(few, RECEIPT_PATH, clients, seconds);
    const large = await receiptLoad(many, RECEIPT_PATH, clients, seconds);
    if (round < 0) continue;
    loads.few.push(small);
    loads.many.push(large);
  }
  const ratio = (cost: (load: Load) => number | undefined): number =>
    median(loads.many.map((one, round) => cost(one)! / cost(loads.few[round]!)!));
  const hasPostgres = loads.few.every(({ processor }) => processor.postgres !== undefined);
  return {
    clients,
    few: middle(loads.few),
    many: middle(loads.many),
    ratio: {
      p50: ratio(({ p50 }) => p50),
      ...(hasPostgres && { postgres: ratio(({ processor }) => processor.postgres) }),
    },
    goal: GOAL,
  };
}
