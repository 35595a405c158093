import type { SeverityMapping, SignatureScheme, TypeMapping } from '../sources/webhook-source.js';
import type { Mapping } from './mapping.js';

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
  /** Where the tool's word means another type here than it does elsewhere. */
  readonly typeMapping?: TypeMapping;
  readonly incidentType?: string;
  /** How the tool can sign, or that it cannot. */
  readonly signature: SignatureScheme;
}
