import type { ChaosSite } from './chaos-site.js';
import { KINDS, type Storm } from './executor-storm.js';

interface Row {
  readonly id: string;
  readonly action_type: string;
  readonly requested_by: string;
  readonly status: string;
  readonly result: { readonly success: boolean; readonly code?: string };
  readonly endings: number;
}

export interface Judgement {
  readonly faults: readonly string[];
  /** How many actions ended how, with how many effects. */
  readonly endings: Readonly<Record<string, number>>;
}

/** Without an effect, each of them: nothing was sent, or the vendor said no. */
const NOTHING_HAPPENED = new Set(['refused', 'interrupted', 'unreachable', 'no_connector']);
const UNCERTAIN = new Set(['outcome_unknown', 'timeout']);

/** Holds what the service says of its actions against what the vendor counted. */
export async function judge(site: ChaosSite, { submitted, unkeyed }: Storm): Promise<Judgement> {
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
