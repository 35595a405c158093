import { applyDecorators } from '@nestjs/common';
import { Matches } from 'class-validator';
import { Choice, JsonObject, NotBlank, Text } from '../../platform/validation/fields.js';
import { INCIDENT_TYPE, KNOWN_INCIDENT_TYPES, SEVERITIES, type Severity } from '../incident.js';
import type { WantedIncident } from '../incidents.service.js';
import { LONGEST_TITLE, oneLine, SEEN } from '../title-text.js';
import { RAW_DATA_DESCRIPTION, RAW_DATA_EXAMPLE, TITLE_EXAMPLE } from './raw-data.js';

export const LONGEST_SOURCE = 255;

export const INCIDENT_TYPE_DESCRIPTION = `An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`;

export const IncidentType = (options: { readonly optional?: boolean; readonly example: string }) =>
  Text({
    pattern: INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    description: INCIDENT_TYPE_DESCRIPTION,
    ...options,
  });

const BLANK = 'title must not be blank';

/** What is not to be seen in it, no pattern of contracts says: see `shownTitle`. */
export const Title = (description: string) =>
  applyDecorators(
    Matches(SEEN, { message: BLANK }),
    NotBlank({
      optional: true,
      max: LONGEST_TITLE,
      message: BLANK,
      description: `${description} Kept as one line, without characters that nobody sees or that turn the direction of writing.`,
      example: TITLE_EXAMPLE,
    }),
  );

/** As a title that is made of raw data: whoever names an incident must not change how the words beside it look. */
export const shownTitle = (title: string | undefined): string | undefined =>
  title === undefined ? undefined : oneLine(title);

export class NewIncidentDto {
  @IncidentType({ example: 'phishing' })
  readonly incident_type: string;

  @NotBlank({
    max: LONGEST_SOURCE,
    message: 'source must not be blank',
    description: 'Where it comes from; any text that is not blank.',
    example: 'email-gateway',
  })
  readonly source: string;

  @Choice('Severity', SEVERITIES, { optional: true, default: 'medium', example: 'high' })
  readonly severity: Severity = 'medium';

  @Title('One that is left out is made from the type and raw_data.')
  readonly title?: string;

  @JsonObject({
    optional: true,
    default: {},
    description: RAW_DATA_DESCRIPTION,
    example: RAW_DATA_EXAMPLE,
  })
  readonly raw_data: Record<string, unknown> = {};

  static toWanted(this: void, body: NewIncidentDto): WantedIncident {
    return {
      incidentType: body.incident_type,
      source: body.source,
      severity: body.severity,
      title: shownTitle(body.title),
      rawData: body.raw_data,
    };
  }
}
