import type { Severity } from '../../incidents/incident.js';
import type { Mapping } from '../mapping/mapping.js';

export const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** How a sender proves that an event is its own. */
export const SIGNATURE_SCHEMES = ['timestamped', 'body', 'standard', 'token', 'basic'] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** How a source's events are read: `auto` finds the format out, `mapping` reads them as the source's mapping says. */
export const EVENT_FORMATS = [
  'auto',
  'generic',
  'email_alert',
  'endpoint_alert',
  'log_alert',
  'ocsf',
  'mapping',
] as const;
export type EventFormatName = (typeof EVENT_FORMATS)[number];

/** From a sender's word, or a range of numbers such as `0-39`, to a severity. */
export type SeverityMapping = Readonly<Record<string, Severity>>;

/** From a sender's word, or a part of one, to an incident type. */
export type TypeMapping = Readonly<Record<string, string>>;

/** What decides what becomes of a source's events. */
export interface ReadingRules {
  readonly format: EventFormatName;
  readonly mapping?: Mapping;
  readonly incidentType?: string;
  readonly severityMapping: SeverityMapping;
  readonly typeMapping: TypeMapping;
  /** No word of an event chooses another type. */
  readonly incidentTypeFixed?: boolean;
  /** No word of an event chooses a lower severity. */
  readonly minSeverity?: Severity;
}

/** A source as it is read, without its secrets. */
export interface WebhookSource extends ReadingRules {
  /** Its name, which is in the address that events are sent to. */
  readonly source: string;
  readonly enabled: boolean;
  readonly signature: SignatureScheme;
  /** The name of the preset that the mapping came from. */
  readonly preset?: string;
  readonly autoTriage: boolean;
  readonly playbook?: string;
  /** Until when the secret before the present one is valid, too. */
  readonly previousSecretUntil?: Date;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a receipt needs of a source: with its secrets, the present one first. */
export interface ReceivingSource extends WebhookSource {
  readonly secrets: readonly ReceivingSecret[];
}

export interface ReceivingSecret {
  readonly value: string;
  readonly until?: Date;
}

/** A mapping for a tool that many use, with what its users have to set there. One file each. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  /** The tools and versions whose payload this is, and where its shape is documented. */
  readonly documentation: string;
  /** What to set at the sender, in sentences; `{url}` stands for the address of the source. */
  readonly setUp: readonly string[];
  /**
   * What tells the tool's bodies from those of other tools, in each of its shapes: pointers that all lead to something, in
   * the body or in the first member of a list.
   */
  readonly marks: readonly (readonly string[])[];
  readonly mapping: Mapping;
  readonly severityMapping?: SeverityMapping;
  /** Where the tool's word means another type here than it does elsewhere. */
  readonly typeMapping?: TypeMapping;
  readonly incidentType?: string;
  /** How the tool can sign, or that it cannot. */
  readonly signature: SignatureScheme;
}
