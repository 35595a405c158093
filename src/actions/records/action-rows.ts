import { getMetadataArgsStorage } from 'typeorm';
import { type IncidentStatus, type Severity, incidentNumber } from '../../incidents/incident.js';
import { titleWithoutDetails } from '../../incidents/title-rules.js';
import type { Action, ActionIncident } from '../action.js';
import { ActionEntity } from './action.entity.js';

type Column = keyof ActionEntity;

/** Every column of the table. */
export const TABLE_COLUMNS = getMetadataArgsStorage()
  .columns.filter(({ target }) => target === ActionEntity)
  .map(({ propertyName }) => propertyName as Column);

/** Fields of an action that are not called as their column is, in camel case. */
const OTHER_NAMES = { action_type: 'type', approval_comment: 'comment' } as const;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Name;
type FieldOf<Name extends string> = Name extends keyof typeof OTHER_NAMES
  ? (typeof OTHER_NAMES)[Name]
  : CamelCase<Name>;

function fieldOf(column: string): string {
  const other: Readonly<Record<string, string>> = OTHER_NAMES;
  return other[column] ?? column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Only statements look at a lease, which they compare with the clock of the database, and at what finds twins. */
type OwnColumns = Omit<ActionEntity, 'lease_until' | 'target_hash'>;

interface LinkedColumns {
  readonly rolled_back_by: string | null;
}

/** What a statement that reads ACTION_COLUMNS yields. */
export type ActionRow = OwnColumns &
  LinkedColumns & {
    readonly incident: {
      readonly number: string;
      readonly created_at: string;
      readonly type: string;
      readonly source: string;
      readonly title: string | null;
      readonly severity: Severity;
      readonly status: IncidentStatus;
      readonly message_id: unknown;
      readonly sender: unknown;
    } | null;
  };

const OWN_COLUMNS = TABLE_COLUMNS.filter(
  (column): column is keyof OwnColumns => column !== 'lease_until' && column !== 'target_hash',
);
const FIELDS = [...OWN_COLUMNS, 'rolled_back_by' as const].map(
  (column) => [column, fieldOf(column)] as const,
);

/**
 * An action is linked to its rollback by the rollback alone, so that the two cannot differ. What is said of its incident
 * comes with it, so that nothing that is said about an action costs another round trip.
 */
export const ACTION_COLUMNS = `${OWN_COLUMNS.map((column) => `actions.${column}`).join(', ')},
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('number', incidents.number::text, 'created_at', incidents.created_at,
                            'type', incidents.incident_type, 'source', incidents.source,
                            'title', incidents.title, 'severity', incidents.severity,
                            'status', incidents.status,
                            'message_id', incidents.fields->'message_id', 'sender', incidents.fields->'sender')
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

type Nullable<Row> = { [C in keyof Row]: null extends Row[C] ? C : never }[keyof Row];

/** The fields that columns say: what is null in a row is absent from the action. */
type FieldsOf<Row> = {
  [C in Exclude<keyof Row, Nullable<Row>> & string as FieldOf<C>]: Row[C];
} & {
  [C in Nullable<Row> & string as FieldOf<C>]?: NonNullable<Row[C]>;
};

export function actionOf(row: ActionRow): Action {
  const action: Record<string, unknown> = {};
  for (const [column, field] of FIELDS) {
    const value = row[column];
    if (value !== null) action[field] = value;
  }
  if (row.incident) action.incident = incidentOf(row.incident);
  return action as FieldsOf<OwnColumns & LinkedColumns> & { readonly incident?: ActionIncident };
}

function incidentOf(incident: NonNullable<ActionRow['incident']>): ActionIncident {
  const { number, created_at, type, source, title, severity, status } = incident;
  const { message_id: messageId, sender } = incident;
  const isMail = typeof messageId === 'string' && typeof sender === 'string';
  return {
    incidentNumber: incidentNumber(number, new Date(created_at)),
    incidentType: type,
    title: title ?? titleWithoutDetails(type, source),
    severity,
    status,
    ...(isMail && { mail: { messageId, sender } }),
  };
}
