import { ApiSchema } from '@nestjs/swagger';
import { ValidationError } from '../../platform/errors/app-error.js';
import { Choice, Choices, Nested, Text } from '../../platform/validation/fields.js';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { IncidentChange } from '../incident-changes.js';
import { INCIDENT_STATUSES, type IncidentStatus, SEVERITIES, type Severity } from '../incident.js';
import { SEEN } from '../title-text.js';
import { IncidentType, shownTitle, Title } from './create-incident.dto.js';
import { GivenVerdictDto } from './verdict.dto.js';

@ApiSchema({ description: 'At least one field; what is left out stays.' })
export class IncidentUpdateDto {
  @Title('What people call it.')
  readonly title?: string;

  @Choice('Severity', SEVERITIES, { optional: true, example: 'critical' })
  readonly severity?: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, {
    optional: true,
    description: 'Any may follow any other. `triaged` is manual triage: it sets triaged_at.',
    example: 'resolved',
  })
  readonly status?: IncidentStatus;

  @Text({
    optional: true,
    max: 10_000,
    description:
      'How the incident ended, in words for people. A blank one takes away what there is.',
    example: 'The sender was blocked and the message removed from all mailboxes.',
  })
  readonly resolution?: string;

  @IncidentType({ optional: true, example: 'bec' })
  readonly incident_type?: string;

  @Nested(() => GivenVerdictDto, {
    optional: true,
    description:
      'Manual triage: it sets triaged_at, makes an open incident triaged, and replaces the verdict there was.',
  })
  readonly verdict?: GivenVerdictDto;

  @Choices('KnownActionType', ACTION_TYPES, {
    optional: true,
    maxItems: 100,
    example: ['quarantine_email', 'block_sender'],
  })
  readonly recommended_actions?: ActionTypeName[];

  static toChange(this: void, body: IncidentUpdateDto): IncidentChange {
    if (Object.values(body).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    const { title, severity, status, resolution, incident_type, verdict, recommended_actions } =
      body;
    return {
      title: shownTitle(title),
      severity,
      status,
      resolution: resolution && (SEEN.test(resolution) ? resolution : ''),
      incidentType: incident_type,
      verdict: verdict && { ...verdict },
      recommendedActions: recommended_actions,
    };
  }
}
