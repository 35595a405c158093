import { Injectable, type PipeTransform } from '@nestjs/common';
import { type FieldOptions, ID_EXAMPLE, Text } from '../platform/validation/fields.js';
import { INCIDENT_NUMBER } from './incident.js';
import { Incidents } from './incidents.js';

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const REFERENCE = new RegExp(`^${UUID}$|${INCIDENT_NUMBER.source}`);

/** Valid id without an incident. */
const NO_INCIDENT = '00000000-0000-7000-8000-000000000000';

/** Id or number of an incident. IncidentIdPipe converts it to an id. */
export function IncidentReference(options: FieldOptions = {}): PropertyDecorator {
  return Text({
    example: ID_EXAMPLE,
    ...options,
    pattern: REFERENCE,
    message: '$property must be the id or the number of an incident',
    contract: { title: 'IncidentReference', pattern: undefined },
  });
}

/**
 * Converts a number to an id, in a path, a query or a body with `incident_id`. The number of an unknown incident becomes
 * NO_INCIDENT. Other values stay unchanged.
 */
@Injectable()
export class IncidentIdPipe implements PipeTransform {
  constructor(private readonly incidents: Incidents) {}

  async transform(value: unknown): Promise<unknown> {
    if (typeof value === 'string') return await this.idOf(value);
    if (typeof value !== 'object' || value === null || !('incident_id' in value)) return value;
    const { incident_id } = value;
    if (typeof incident_id !== 'string') return value;
    return Object.assign(value, { incident_id: await this.idOf(incident_id) });
  }

  private async idOf(reference: string): Promise<string> {
    if (!INCIDENT_NUMBER.test(reference)) return reference;
    return (await this.incidents.idOfNumber(reference)) ?? NO_INCIDENT;
  }
}
