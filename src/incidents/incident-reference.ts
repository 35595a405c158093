import { Injectable, type PipeTransform } from '@nestjs/common';
import { type FieldOptions, ID_EXAMPLE, Text } from '../platform/validation/fields.js';
import { INCIDENT_NUMBER } from './incident.js';
import { Incidents } from './incidents.js';

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const REFERENCE = new RegExp(`^${UUID}$|${INCIDENT_NUMBER.source}`);

/** Valid id that no incident has. */
const NO_INCIDENT = '00000000-0000-7000-8000-000000000000';

export function IncidentReference(options: FieldOptions = {}): PropertyDecorator {
  return Text({
    example: ID_EXAMPLE,
    ...options,
    pattern: REFERENCE,
    message: '$property must be the id or the number of an incident',
    contract: { title: 'IncidentReference', pattern: undefined },
  });
}

/** Converts incident numbers in paths, queries and `incident_id` to ids. An unknown number becomes NO_INCIDENT. */
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
