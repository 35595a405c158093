import { isDeepStrictEqual } from 'node:util';
import type {
  EveryField,
  PlaybookDefinition,
  PlaybookTriggers,
  PlaybookVersion,
  TriggeringIncident,
} from './playbook.js';

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
  const after: EveryField<PlaybookDefinition> = {
    description: change.description ?? before.description,
    enabled: change.enabled ?? before.enabled,
    triggers: change.triggers ? eachOnce(change.triggers) : before.triggers,
    auto_run: change.auto_run ?? before.auto_run,
    trust_verdict: change.trust_verdict ?? before.trust_verdict,
    instructions: change.instructions ?? before.instructions,
    variables: change.variables ?? before.variables,
    steps: change.steps ?? before.steps,
  };
  const { description, instructions, ...rest } = after;
  // No field that is undefined: what is compared with this was read from JSON.
  return { ...(description && { description }), ...rest, ...(instructions && { instructions }) };
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
