import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Severity } from '../incidents/incident.js';
import { isUuid } from '../platform/ids.js';
import type { WrittenPlaybook, WrittenStep } from './language/playbook-definition.js';

/** Small letters, digits and hyphens, but nothing that looks like an id: where either will do, nobody is mistaken for another. */
export const PLAYBOOK_NAME =
  /^(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9][a-z0-9-]{0,62}$/;

export function isNameOrId(text: string): boolean {
  return isUuid(text) || PLAYBOOK_NAME.test(text);
}

export const ON_ERROR = ['stop', 'continue'] as const satisfies OnError[];
export type OnError = PlaybookStep['on_error'];

/** The incidents that a playbook is for. An empty list takes any. */
export interface PlaybookTriggers {
  readonly incident_types: readonly string[];
  readonly severities: readonly Severity[];
  readonly sources: readonly string[];
}

/** The same with every field named, so that the compiler finds where one that was added is not carried along. */
export type EveryField<T> = { readonly [K in keyof Required<T>]: T[K] };

export interface PlaybookStep extends WrittenStep {
  readonly action: ActionTypeName;
}

/** What people decide about a playbook, by the names that callers and the stored JSON have for it. */
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

/** What a run goes by: the definition as it was at one version, and what the playbook was called then. */
export interface PlaybookVersion {
  /** Of the playbook: its versions have numbers alone. */
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly definition: PlaybookDefinition;
}

/** By its name an address may show another playbook than it did: so the id is part of what a change is meant for. */
export function revisionOf({ id, version }: PlaybookVersion): `${string}-${number}` {
  return `${id}-${version}`;
}

export interface Playbook extends PlaybookVersion {
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedBy: string;
  readonly updatedAt: Date;
}

/** A version with who made it, and when. */
export interface KeptVersion extends PlaybookVersion {
  readonly changedBy: string;
  readonly changedAt: Date;
}

/** What triggers look at. */
export interface TriggeringIncident {
  readonly type: string;
  readonly severity: Severity;
  readonly source: string;
}
