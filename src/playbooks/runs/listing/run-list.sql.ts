import {
  byId,
  choiceOf,
  exactTotal,
  idsInOrder,
  isChosen,
  listStatement,
  StatementValues,
  where,
} from '../../../platform/counting/counted-list.sql.js';
import { firstIdAt } from '../../../platform/ids.js';
import { PLAYBOOK_RUN_STATUSES, type RunOutcome } from '../playbook-run.js';
import { RUN_COLUMNS } from '../records/run-rows.js';
import type { RunFilter, RunListRequest } from './run-list.js';

export interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** One statement that yields a page and the exact total: see listStatement. Ids begin with the time of the start. */
export function listQuery({ filter, newestFirst, page, per_page }: RunListRequest): ListQuery {
  const values = new StatementValues();
  const { playbookId, statuses } = filter;
  const chosen = choiceOf(statuses, 'text', values, PLAYBOOK_RUN_STATUSES.length);
  const ofPlaybook =
    playbookId === undefined ? [] : [`playbook_id = ${values.add(playbookId, 'uuid')}`];
  const counted = [...ofPlaybook, ...(chosen ? [isChosen('status', chosen)] : [])];
  const narrow = narrowConditions(filter, values);
  const ranges = (chosen?.each ?? [undefined]).map((status) => [
    ...ofPlaybook,
    ...(status === undefined ? [] : [`status = ${status}`]),
    ...narrow,
  ]);
  const direction = newestFirst ? 'desc' : 'asc';
  const offset = (page - 1) * per_page;
  const first = idsInOrder('playbook_runs', ranges, direction, offset + per_page);
  const text = listStatement({
    total:
      narrow.length > 0
        ? `(select count(*) from playbook_runs${where([...counted, ...narrow])})`
        : countOf(counted),
    ids: `
    select id from (${first}) as candidate order by id ${direction}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
    columns: RUN_COLUMNS.join(', '),
    table: 'playbook_runs',
    order: byId(direction),
  });
  return { text, values: values.all };
}

/** How many runs fulfil conditions on playbook and status. */
export function countOf(conditions: readonly string[]): string {
  return exactTotal(
    { table: 'playbook_run_counts', conditions },
    { table: 'playbook_run_count_deltas', conditions },
  );
}

/** As `outcomeOf` has it. The outcomes are words of ours. */
function hasOutcome(outcome: RunOutcome): string {
  switch (outcome) {
    case 'succeeded':
      return `(status = 'completed' and steps_failed = 0)`;
    case 'partial':
      return `(status = 'completed' and steps_failed > 0)`;
    case 'failed':
    case 'cancelled':
      return `(status = '${outcome}')`;
  }
}

/** Runs about one incident, or in a range of time, are few: an index finds them, so they are counted as they are. */
function narrowConditions(
  { incidentId, outcomes, from, to }: RunFilter,
  values: StatementValues,
): string[] {
  const idAt = (time: number) => values.add(firstIdAt(time), 'uuid');
  return [
    ...(outcomes === undefined ? [] : [`(${outcomes.map(hasOutcome).join(' or ')})`]),
    ...(incidentId === undefined ? [] : [`incident_id = ${values.add(incidentId, 'uuid')}`]),
    ...(from === undefined ? [] : [`id >= ${idAt(from.getTime())}`]),
    ...(to === undefined ? [] : [`id < ${idAt(to.getTime() + 1)}`]),
  ];
}
