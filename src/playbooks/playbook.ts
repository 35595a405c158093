import { isDeepStrictEqual } from 'node:util';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Incident } from '../incidents/incident.js';
import { RowTimes } from '../platform/database/columns.js';
import type { PlaybookContentDto, PlaybookUpdateDto } from './playbook.dto.js';

export type PlaybookStep = PlaybookContentDto['steps'][number];
export type PlaybookDefinition = Omit<PlaybookContentDto, 'id' | 'name' | 'version'>;

@Entity('playbooks')
export class PlaybookEntity extends RowTimes {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** Copied from the definition, like `auto_run`, because filters of lists and triggers use these columns. */
  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'boolean' })
  readonly auto_run: boolean;

  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'text' })
  readonly updated_by: string;
}

@Entity('playbook_versions')
export class PlaybookVersionEntity {
  @PrimaryColumn({ name: 'playbook_id', type: 'uuid' })
  readonly id: string;

  @PrimaryColumn({ type: 'integer' })
  readonly version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly changed_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly changed_at: Date;

  /** Principal who last set `auto_run`. Null while `auto_run` is not set. */
  @Column({ type: 'text', nullable: true })
  readonly auto_run_by: string | null;

  @Column({ type: 'text', nullable: true })
  readonly trust_verdict_by: string | null;
}

export type PlaybookVersion = Pick<PlaybookVersionEntity, 'id' | 'version' | 'name' | 'definition'>;

/** Contains the id and not the name, because another playbook may later have the same name. */
export function revisionOf({ id, version }: PlaybookVersion): `${string}-${number}` {
  return `${id}-${version}`;
}

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
  { name: _, triggers, ...change }: PlaybookUpdateDto,
): PlaybookDefinition {
  // Converts the change to stored JSON, because comparisons would count undefined fields and prototypes as changes.
  const after = { ...before, ...asJson(change) };
  return asJson({
    ...after,
    description: after.description || undefined,
    triggers: triggers ? { ...DEFAULT_DEFINITION.triggers, ...asJson(triggers) } : before.triggers,
    instructions: after.instructions || undefined,
  });
}

const asJson = <T>(value: T) => JSON.parse(JSON.stringify(value)) as T;

type Content = Pick<PlaybookVersion, 'name' | 'definition'>;

export function changedFields(before: Content, after: Content): string[] {
  const from: Record<string, unknown> = { name: before.name, ...before.definition };
  const to: Record<string, unknown> = { name: after.name, ...after.definition };
  return Object.keys({ ...from, ...to }).filter(
    (field) => !isDeepStrictEqual(from[field], to[field]),
  );
}

/** True if the change only describes the playbook, disables it or removes its trust in verdicts. */
export function onlyStops(before: Content, after: Content): boolean {
  const values: Readonly<Record<string, unknown>> = { ...after.definition, description: false };
  return changedFields(before, after).every((field) => values[field] === false);
}

/** True if the change needs a manager. With `trust_verdict`, the verdict of a model decides about steps. */
export function isForManagers(before: Content | undefined, after: Content): boolean {
  if (!after.definition.trust_verdict) return false;
  return !before?.definition.trust_verdict || !onlyStops(before, after);
}

export function isTriggeredBy(
  { incident_types, severities, sources }: PlaybookDefinition['triggers'],
  { incident_type, severity, source }: Pick<Incident, 'incident_type' | 'severity' | 'source'>,
): boolean {
  const takes = (list: readonly string[], value: string) =>
    list.length === 0 || list.includes(value);
  return (
    takes(incident_types, incident_type) && takes(severities, severity) && takes(sources, source)
  );
}
