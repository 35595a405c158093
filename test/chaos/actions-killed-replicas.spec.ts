import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import type { ChaosSite } from '../support/chaos/chaos-site.js';
import {
  executorStorm,
  KINDS,
  openExecutorSite,
  type Storm,
} from '../support/chaos/executor-storm.js';
import { FULL, say, spread } from '../support/chaos/figures.js';

const EACH = FULL ? 13 : 1;
const BATCH = FULL ? 4 : 6;

interface Row {
  readonly id: string;
  readonly action_type: string;
  readonly requested_by: string;
  readonly status: string;
  readonly result: { readonly success: boolean; readonly code?: string };
  readonly endings: number;
}

interface Judgement {
  readonly faults: readonly string[];
  /** How many actions ended how, with how many effects. */
  readonly endings: Readonly<Record<string, number>>;
}

/** Without an effect, each of them: nothing was sent, or the vendor said no. */
const NOTHING_HAPPENED = new Set(['refused', 'interrupted', 'unreachable', 'no_connector']);
const UNCERTAIN = new Set(['outcome_unknown', 'timeout']);

/** Holds what the service says of its actions against what the vendor counted. */
async function judge(site: ChaosSite, { submitted, unkeyed }: Storm): Promise<Judgement> {
  const { rows } = await site.db.query<Row>(
    `select id, action_type, requested_by, status, result,
            (select count(*)::integer from audit_log
              where subject_id = 'act-' || actions.id and action in ('action.completed', 'action.failed')) as endings
       from actions`,
  );
  const faults: string[] = [];
  const endings: Record<string, number> = {};
  const kinds = new Map(submitted.map(({ id, kind }) => [id, kind]));
  const hasty = new Set(rows.filter(({ requested_by: by }) => unkeyed.by.test(by)));
  if (hasty.size > unkeyed.most) faults.push(`${hasty.size} of ${unkeyed.most} without a key`);
  const known = new Set(rows.filter((row) => !hasty.has(row)).map(({ id }) => `act-${id}`));
  for (const id of kinds.keys()) if (!known.has(id)) faults.push(`${id} is lost`);
  for (const id of known) if (!kinds.has(id)) faults.push(`${id} was made twice`);
  for (const row of rows) {
    const shown = `act-${row.id}`;
    const effects = site.vendor.effectsOf(shown);
    const kind = KINDS.find(({ type }) => type === row.action_type);
    const idempotent = kind?.idempotent ?? false;
    const how = row.result?.code ?? row.status;
    const name = `${idempotent ? 'repeatable' : 'once only'}: ${how}, ${idempotent ? Math.min(effects, 1) : effects} effects`;
    endings[name] = (endings[name] ?? 0) + 1;
    for (const fault of faultsOf(row, effects, idempotent)) {
      faults.push(`${shown} ${row.action_type} ${how}, ${effects} effects: ${fault}`);
    }
  }
  return { faults, endings };
}

function faultsOf(
  { status, result, endings }: Row,
  effects: number,
  idempotent: boolean,
): string[] {
  const code = result?.code ?? '';
  const faults: string[] = [];
  if (endings !== 1) faults.push(`ended ${endings} times by the audit log`);
  if (!idempotent && effects > 1) faults.push('done twice');
  if (status === 'completed' && effects === 0) faults.push('not done');
  if (NOTHING_HAPPENED.has(code) && effects > 0) faults.push('done all the same');
  const settled = status === 'completed' || NOTHING_HAPPENED.has(code) || UNCERTAIN.has(code);
  if (!settled) faults.push('ended otherwise');
  return faults;
}

describe('an action while replicas are killed, or stopped and woken late, at each place of their work', () => {
  let site: ChaosSite;

  beforeAll(async () => {
    site = await openExecutorSite();
  });
  afterAll(() => site?.close());

  it(
    'is done once or not at all, and ends as the vendor counted it',
    async () => {
      const started = Date.now();
      const storm = await executorStorm(site, EACH, BATCH);
      const { faults, endings } = await judge(site, storm);
      const counted = (at: typeof storm.kills) => at.map((one) => JSON.stringify(one)).join(' ');
      say(`Kills by failpoint at each place: ${counted(storm.kills)}, ${storm.missed} missed`);
      say(`Stops in the same way: ${counted(storm.stops)}; ${storm.late} runs woke up too late`);
      say(`${storm.submitted.length} actions: ${JSON.stringify(endings, null, 2)}`);
      say(`Claims settled after the lease: ${spread(storm.stuck.claims)}`);
      say(`Actions without a claim begun: ${spread(storm.stuck.turns)}`);
      say(`Took ${Math.round((Date.now() - started) / 1_000)} s`);
      expect(faults).toEqual([]);
      for (const strikes of [...storm.kills, ...storm.stops]) {
        for (const point of Object.values(FAILPOINT)) expect(strikes[point]).toBe(EACH);
      }
      expect(storm.late).toBeGreaterThan(0);
    },
    FULL ? 3_000_000 : 480_000,
  );
});
