import { Injectable, type PipeTransform } from '@nestjs/common';
import { type FieldOptions, ID_EXAMPLE, Text } from '../platform/validation/fields.js';
import { IncidentsService } from './incidents.service.js';

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const NUMBER = 'INC-[0-9]{4}-[0-9]{4,18}';
const REFERENCE = new RegExp(`^(${UUID}|${NUMBER})$`);
const ONLY_NUMBER = new RegExp(`^${NUMBER}$`);

/** The id of no incident. */
const NOBODY = '00000000-0000-7000-8000-000000000000';

/** An incident as callers name it: by its id, or by its number. IncidentIdPipe makes an id of it. */
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
 * For an id in an address, and for a query or a body with an `incident_id`. The number of no incident becomes the id of none;
 * what is no number stays as it is.
 */
@Injectable()
export class IncidentIdPipe implements PipeTransform {
  constructor(private readonly incidents: IncidentsService) {}

  async transform(value: unknown): Promise<unknown> {
    if (typeof value === 'string') return await this.idOf(value);
    if (typeof value !== 'object' || value === null || !('incident_id' in value)) return value;
    const { incident_id } = value;
    if (typeof incident_id !== 'string') return value;
    return Object.assign(value, { incident_id: await this.idOf(incident_id) });
  }

  private async idOf(reference: string): Promise<string> {
    if (!ONLY_NUMBER.test(reference)) return reference;
    return (await this.incidents.idOfNumber(reference)) ?? NOBODY;
  }
}
