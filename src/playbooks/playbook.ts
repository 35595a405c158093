import { isDeepStrictEqual } from 'node:util';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Severity } from '../incidents/incident.js';
import { isUuid } from '../platform/ids.js';
import type { WrittenPlaybook, WrittenStep } from './language/playbook-definition.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';

/** Lower-case letters, digits and hyphens. A UUID is no name, so that an id is never mistaken for a name. */
export const PLAYBOOK_NAME =
  /^(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9][a-z0-9-]{0,62}$/;

export function isNameOrId(text: string): boolean {
  return isUuid(text) || PLAYBOOK_NAME.test(text);
}

export const ON_ERROR = ['stop', 'continue'] as const satisfies OnError[];
export type OnError = PlaybookStep['on_error'];

/** Incidents that a playbook is for. An empty list matches all. */
export interface PlaybookTriggers {
  readonly incident_types: readonly string[];
  readonly severities: readonly Severity[];
  readonly sources: readonly string[];
}

export interface PlaybookStep extends WrittenStep {
  readonly action: ActionTypeName;
}

/** Content of a playbook, with the field names of the API and of the stored JSON. */
export interface PlaybookDefinition extends WrittenPlaybook {
  readonly description?: string;
  readonly enabled: boolean;
  readonly triggers: PlaybookTriggers;
  readonly auto_run: boolean;
  readonly trust_verdict: boolean;
  /** Guidance for the model; it starts nothing. */
  readonly instructions?: string;
  readonly steps: readonly PlaybookStep[];
}

@Entity('playbooks')
@Check('ck_playbooks_name', `name ~ '^[a-z0-9][a-z0-9-]{0,62}$'`)
@Index('uq_playbooks_name', ['name'], { unique: true, where: 'deleted_at is null' })
@Index('ix_playbooks_created_at', ['created_at', 'id'], { where: 'deleted_at is null' })
@Index('ix_playbooks_auto_run', ['name'], {
  where: 'auto_run and enabled and deleted_at is null',
})
export class PlaybookEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbooks' })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** Copy from the definition, like `auto_run`, for the filters of lists and for triggers. */
  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'boolean' })
  readonly auto_run: boolean;

  /** Definition of the current version, so that reading a playbook reads one row. */
  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'text' })
  readonly updated_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;

  /** The row of a deleted playbook stays for its runs; its name is free again. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}

/** Immutable: a trigger rejects every change, so that a run keeps the version that it started with. */
@Entity('playbook_versions')
export class PlaybookVersionEntity {
  @PrimaryColumn({
    name: 'playbook_id',
    type: 'uuid',
    primaryKeyConstraintName: 'pk_playbook_versions',
  })
  @ForeignKey('playbooks', { name: 'fk_playbook_versions_playbook' })
  readonly id: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_playbook_versions' })
  readonly version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly changed_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly changed_at: Date;
}

/** Definition and name of a playbook at one version. A run keeps its version. */
export type PlaybookVersion = Pick<PlaybookVersionEntity, 'id' | 'version' | 'name' | 'definition'>;

/** Includes the id, because another playbook may have the name later. */
export function revisionOf({ id, version }: PlaybookVersion): `${string}-${number}` {
  return `${id}-${version}`;
}

/** Fields that triggers compare. */
interface TriggeringIncident {
  readonly type: string;
  readonly severity: Severity;
  readonly source: string;
}

/** Fields to change. An empty text removes the field. */
export type DefinitionChange = { readonly [K in keyof PlaybookDefinition]?: PlaybookDefinition[K] };

export const DEFAULT_DEFINITION: PlaybookDefinition = {
  enabled: true,
  triggers: { incident_types: [], severities: [], sources: [] },
  auto_run: false,
  trust_verdict: false,
  variables: {},
  steps: [],
};

export function definitionAfter(
  before: PlaybookDefinition,
  change: DefinitionChange,
): PlaybookDefinition {
  const after: { readonly [K in keyof Required<PlaybookDefinition>]: PlaybookDefinition[K] } = {
    description: (change.description ?? before.description) || undefined,
    enabled: change.enabled ?? before.enabled,
    triggers: change.triggers ? eachOnce(change.triggers) : before.triggers,
    auto_run: change.auto_run ?? before.auto_run,
    trust_verdict: change.trust_verdict ?? before.trust_verdict,
    instructions: (change.instructions ?? before.instructions) || undefined,
    variables: change.variables ?? before.variables,
    steps: change.steps ?? before.steps,
  };
  // The database stores JSON, and comparisons see undefined fields and prototypes.
  return JSON.parse(JSON.stringify(after)) as PlaybookDefinition;
}

/** Repeated values create no new version. */
function eachOnce({ incident_types, severities, sources }: PlaybookTriggers): PlaybookTriggers {
  return {
    incident_types: [...new Set(incident_types)],
    severities: [...new Set(severities)],
    sources: [...new Set(sources)],
  };
}

type Content = Pick<PlaybookVersion, 'name' | 'definition'>;

/** Names of the fields that differ, including `name`. */
export function changedFields(before: Content, after: Content): string[] {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].filter((name) => !isDeepStrictEqual(from[name], to[name]));
}

/** Whether the change only describes the playbook, disables it or removes its trust. Such a change is always permitted. */
export function onlyStops(before: Content, after: Content): boolean {
  const { enabled, auto_run, trust_verdict } = after.definition;
  const isHarmless = (field: string) =>
    field === 'description' ||
    (field === 'enabled' && !enabled) ||
    (field === 'auto_run' && !auto_run) ||
    (field === 'trust_verdict' && !trust_verdict);
  return changedFields(before, after).every(isHarmless);
}

/**
 * Steps of a playbook with `trust_verdict` run on the verdict of a model, for which a manager is responsible. Other roles can
 * only describe such a playbook, disable it or remove its trust.
 */
export function isForManagers(before: Content | undefined, after: Content): boolean {
  if (!after.definition.trust_verdict) return false;
  return !before?.definition.trust_verdict || !onlyStops(before, after);
}

export function isTriggeredBy(triggers: PlaybookTriggers, incident: TriggeringIncident): boolean {
  const takes = (list: readonly string[], value: string) =>
    list.length === 0 || list.includes(value);
  return (
    takes(triggers.incident_types, incident.type) &&
    takes(triggers.severities, incident.severity) &&
    takes(triggers.sources, incident.source)
  );
}

function fieldsOf({ name, definition }: Content): Record<string, unknown> {
  return { name, ...definition };
}

export class PlaybookNotFoundError extends NotFoundError {
  constructor() {
    super('Playbook');
  }
}

export class PlaybookNameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `A playbook named ${name} already exists.`);
  }
}

export class TooManyPlaybooksError extends AppError {
  constructor(most: number) {
    super('conflict', `The limit of ${most} playbooks is reached. Delete one first.`);
  }
}
