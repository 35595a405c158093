import {
  Choice,
  Flag,
  Instant,
  Nested,
  Reason,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';

export class KillSwitchActivationRequestDto {
  @Reason({ max: 1_000 })
  readonly reason: string;
}

export class KillSwitchDeactivationRequestDto extends KillSwitchActivationRequestDto {
  @Choice('HeldChoice', ['resume', 'discard'], {
    optional: true,
    default: 'resume',
    description: 'Whether waiting work continues or is discarded.',
  })
  readonly held?: 'resume' | 'discard';
}

export class HeldWorkDto {
  @WholeNumber({ min: 0 })
  readonly actions: number;

  @WholeNumber({ min: 0 })
  readonly triage_runs: number;

  @WholeNumber({ min: 0 })
  readonly playbook_runs: number;
}

class KillSwitchDto {
  @Flag()
  readonly active: boolean;

  @Text({ optional: true, description: 'Reason of the last activation.' })
  readonly reason?: string;

  @Text({ optional: true, description: 'Principal of the last activation.' })
  readonly activated_by?: string;

  @Instant({ optional: true, description: 'Time of the last activation.' })
  readonly activated_at?: Date;

  @Text({ optional: true, description: 'Principal of the last deactivation.' })
  readonly deactivated_by?: string;

  @Instant({
    optional: true,
    description: 'Time of the last deactivation; absent while the switch is on.',
  })
  readonly deactivated_at?: Date;

  @Text({ optional: true, description: 'Reason of the last deactivation.' })
  readonly deactivation_reason?: string;
}

export class KillSwitchStatusDto extends KillSwitchDto {
  @Nested(() => HeldWorkDto, { description: 'Work that waits for the deactivation.' })
  readonly held: HeldWorkDto;
}

export class KillSwitchActivationDto extends KillSwitchDto {
  @WholeNumber({
    optional: true,
    min: 0,
    description:
      'Calls that started before the activation and are still in progress. Absent if they could not be counted in time.',
  })
  readonly in_flight?: number;
}

export class KillSwitchDeactivationDto extends KillSwitchDto {
  @Nested(() => HeldWorkDto, {
    optional: true,
    description: 'Discarded work, if `held` was `discard`.',
  })
  readonly discarded?: HeldWorkDto;
}
