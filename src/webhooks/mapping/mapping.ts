import type { SeverityMapping } from '../sources/webhook-source.js';

/** A JSON pointer (RFC 6901), or several of which the first that leads somewhere counts. */
export type Pointers = string | readonly string[];

/** Where the parts of an incident are in an event of a source, as JSON pointers. */
export interface Mapping {
  /** To an array whose members are events of their own; the other pointers then start from each member. */
  readonly items?: Pointers;
  readonly title?: Pointers;
  readonly severity?: Pointers;
  readonly event_id?: Pointers;
  readonly type?: Pointers;
  /** Keys of raw_data, such as `sender`, and where their values are. */
  readonly lift?: Readonly<Record<string, Pointers>>;
}

/** A mapping for a tool that many use, with what its users have to set there. One file each. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  /** The tools and versions whose payload this is, and where its shape is documented. */
  readonly documentation: string;
  /** What to set at the sender, in sentences; `{url}` stands for the address of the source. */
  readonly setUp: readonly string[];
  readonly mapping: Mapping;
  readonly severityMapping?: SeverityMapping;
  readonly incidentType?: string;
  /** How the tool can sign, or that it cannot. */
  readonly signature: 'timestamped' | 'body' | 'standard' | 'token';
}
