import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Severity } from '../incidents/incident.js';
import { isUuid } from '../platform/ids.js';
import type { WrittenPlaybook, WrittenStep } from './language/playbook-definition.js';
import { isDeepStrictEqual } from 'node:util';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';

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

/** What triggers look at. */
export interface TriggeringIncident {
  readonly type: string;
  readonly severity: Severity;
  readonly source: string;
}

/** What a request says: undefined where it says nothing, an empty text to take one away. */
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

/** What is named twice in a list says nothing more, and makes no other version. */
function eachOnce({ incident_types, severities, sources }: PlaybookTriggers): PlaybookTriggers {
  return {
    incident_types: [...new Set(incident_types)],
    severities: [...new Set(severities)],
    sources: [...new Set(sources)],
  };
}

type Content = Pick<PlaybookVersion, 'name' | 'definition'>;

/** The fields that differ, `name` among them. */
export function changedFields(before: Content, after: Content): string[] {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].filter((name) => !isDeepStrictEqual(from[name], to[name]));
}

/** Whether the change only describes the playbook, stops it or takes its trust away. Nothing may stand in the way of that. */
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
 * Steps of a playbook with `trust_verdict` may run on the word of a model, because a manager took the responsibility for
 * them. So whoever is no manager may change nothing of such a playbook, unless the change takes the trust away, or only
 * stops or describes it.
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
    super('conflict', `There is a playbook named ${name} already.`);
  }
}

export class TooManyPlaybooksError extends AppError {
  constructor(most: number) {
    super('conflict', `There are ${most} playbooks, and no more may be: delete one first.`);
  }
}
