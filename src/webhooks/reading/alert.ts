import type { Severity } from '../../incidents/incident.js';
import type { Json } from './json.js';
import type { EventFormatName } from '../sources/webhook-source.js';

/** One event as a format or a mapping reads it. The event itself and its usual type are always there. */
export interface Alert {
  /** As it came: what the incident's raw_data shows. */
  readonly event: Json;
  /** The sender's own id of the event, by which a repetition is known. */
  readonly eventId?: string;
  readonly title?: string;
  /** The event's word for its type. It counts when it is a known incident type. */
  readonly type?: string;
  /** The tool's words for category, tactic or rule, as a mapping finds them. They tell the type where `type` does not. */
  readonly words?: readonly string[];
  /** Words of the tool that only the source's type_mapping looks at: elsewhere they may mean anything. */
  readonly mappedWords?: readonly (string | undefined)[];
  /** The type when neither the event nor the source tells one. */
  readonly usualType: string;
  readonly severity?: SaidSeverity;
  /** Values for the incident's `fields`, such as `sender`. */
  readonly lift?: Readonly<Record<string, Json>>;
}

/** A severity in the event's words, such as `High` or `72`. */
export interface SaidSeverity {
  readonly said: string;
  /** The number that the event gives beside its word; ranges of the source's severity_mapping look at it, too. */
  readonly number?: number;
  /** What the format makes of a number or of a scale of its own, unless the source's severity_mapping says something else. */
  readonly level?: Severity;
}

/** A shape of events that tools send. One file each, a constant in it; formats.ts lists them all. Pure. */
export interface EventFormat {
  readonly name: Exclude<EventFormatName, 'auto' | 'mapping'>;
  /** Reads one event. Undefined when the fields that mark this format are not there, so that `auto` can tell formats apart. */
  read(event: Json): Alert | undefined;
}
