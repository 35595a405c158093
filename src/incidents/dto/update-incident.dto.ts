import { ApiSchema } from '@nestjs/swagger';
import { ValidationError } from '../../platform/errors/app-error.js';
import { Choice, Choices, Flag, Nested, Text } from '../../platform/validation/fields.js';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { IncidentChange } from '../incident-changes.js';
import { INCIDENT_STATUSES, type IncidentStatus, SEVERITIES, type Severity } from '../incident.js';
import { SEEN } from '../title-text.js';
import { IncidentType, shownTitle, Title } from './create-incident.dto.js';
import { PENDING_CHOICES, type PendingChoice } from '../incidents.service.js';
import { GivenVerdictDto } from './verdict.dto.js';

@ApiSchema({ description: 'At least one field; what is left out stays.' })
export class IncidentUpdateDto {
  @Title('What people call it.')
  readonly title?: string;

  @Choice('Severity', SEVERITIES, { optional: true, example: 'critical' })
  readonly severity?: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, {
    optional: true,
    description:
      'Any may follow any other; leaving `resolved` needs `reopen` or If-Match. `triaged` is manual triage, and sets triaged_at, unless it opens a resolved incident again.',
    example: 'resolved',
  })
  readonly status?: IncidentStatus;

  @Flag({
    optional: true,
    description:
      'To open a resolved incident again. Without `status` it is triaged then, or open where it never was.',
    example: true,
  })
  readonly reopen?: boolean;

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
      'Manual triage: it sets triaged_at, makes an open incident triaged, and replaces the verdict there was. Evidence, indicators and techniques that it does not give stay as they were found; what a run said is in `proposed`.',
  })
  readonly verdict?: GivenVerdictDto;

  @Choices('KnownActionType', ACTION_TYPES, {
    optional: true,
    maxItems: 100,
    example: ['quarantine_email', 'block_sender'],
  })
  readonly recommended_actions?: ActionTypeName[];

  @Choice('PendingChoice', PENDING_CHOICES, {
    optional: true,
    description:
      'With `status: resolved`: `withdraw` rejects the actions and cancels the playbook runs that wait on the incident, whatever approval level they need; `keep`, the default, leaves them.',
    example: 'withdraw',
  })
  readonly pending?: PendingChoice;

  static toChange(this: void, body: IncidentUpdateDto): IncidentChange {
    if (Object.values(body).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    if (body.pending && body.status !== 'resolved') {
      const message = 'status must be resolved where pending is given.';
      throw new ValidationError([{ field: 'status', code: 'required', message }]);
    }
    const { title, severity, status, reopen, resolution } = body;
    const { incident_type, verdict, recommended_actions } = body;
    return {
      title: shownTitle(title),
      severity,
      status,
      reopen,
      resolution: resolution && (SEEN.test(resolution) ? resolution : ''),
      incidentType: incident_type,
      verdict: verdict && { ...verdict },
      recommendedActions: recommended_actions,
    };
  }
}
