import type { Alert } from '../reading/alert.js';
import type { Json } from '../reading/json.js';
import type { EventFormatName } from '../sources/webhook-source.js';

/** A shape of events that tools send. One file each, a constant in it; formats.ts lists them all. Pure. */
export interface EventFormat {
  readonly name: Exclude<EventFormatName, 'auto' | 'mapping'>;
  /** Reads one event. Undefined when the fields that mark this format are not there, so that `auto` can tell formats apart. */
  read(event: Json): Alert | undefined;
}
