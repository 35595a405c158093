import {
  type Choice,
  choiceOf,
  type StatementValues,
} from '../../platform/counting/counted-list.sql.js';
import { type ChosenValues, valueConditions } from '../counting/counts.sql.js';
import { INCIDENT_STATUSES, SEVERITIES } from '../incident.js';
import type { IncidentFilter } from './incident-list.js';

/** A filter as SQL. */
export interface FilterSql {
  readonly chosen: ChosenValues;
  /** Conditions on the id, which begins with created_at. */
  readonly created: readonly string[];
}

export function filterSql(filter: IncidentFilter, values: StatementValues): FilterSql {
  const status = choiceOf(filter.statuses, 'incident_status', values, INCIDENT_STATUSES.length);
  const severity = choiceOf(filter.severities, 'incident_severity', values, SEVERITIES.length);
  const incident_type = choiceOf(filter.types, 'text', values);
  const source: Choice | undefined =
    filter.source === undefined ? undefined : { each: [values.add(filter.source, 'text')] };
  const { createdAfter, createdBefore } = filter;
  return {
    chosen: { source, incident_type, severity, status },
    created: [
      ...(createdAfter ? [`id >= ${values.add(firstIdAfter(createdAfter), 'uuid')}`] : []),
      ...(createdBefore ? [`id < ${values.add(endIdBefore(createdBefore), 'uuid')}`] : []),
    ],
  };
}

export function conditionsOf({ chosen, created }: FilterSql): string[] {
  return ['deleted_at is null', ...valueConditions(chosen), ...created];
}

export function hasChoice({ chosen }: FilterSql): boolean {
  return Object.values(chosen).some((choice) => choice !== undefined);
}

/** Ids of version 7 begin with created_at in milliseconds: a bound in time is a bound of ids. */
const LAST_MS = 2 ** 48 - 1;

/** The least id that an incident created at this millisecond, or later, can have. */
export function firstIdAt(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), LAST_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const FRACTION = /\.(\d+)/;

/** Of incidents created strictly after the given ISO 8601 time, which may be finer than a millisecond. */
export function firstIdAfter(time: string): string {
  return firstIdAt(wholeMs(time) + 1);
}

/** Incidents created strictly before the given time have ids below this one. */
export function endIdBefore(time: string): string {
  const digits = FRACTION.exec(time)?.[1] ?? '';
  const finer = /[1-9]/.test(digits.slice(3));
  return firstIdAt(wholeMs(time) + (finer ? 1 : 0));
}

function wholeMs(time: string): number {
  return Date.parse(time.replace(FRACTION, (fraction) => fraction.slice(0, 4)));
}
