import type { HeldCounts, KillSwitchState } from './kill-switch.js';
import type { Activated, Deactivated } from './kill-switch-activation.js';
import {
  Choice,
  Flag,
  Instant,
  Nested,
  Reason,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';

const LONGEST_REASON = 1_000;

export class KillSwitchActivationRequestDto {
  @Reason({ max: LONGEST_REASON })
  readonly reason: string;
}

const HELD_CHOICES = ['resume', 'discard'] as const;
type HeldChoice = (typeof HELD_CHOICES)[number];

export class KillSwitchDeactivationRequestDto {
  @Reason({ max: LONGEST_REASON })
  readonly reason: string;

  @Choice('HeldChoice', HELD_CHOICES, {
    optional: true,
    default: 'resume',
    description: 'Whether waiting work continues or is discarded.',
  })
  readonly held?: HeldChoice;
}

export class HeldWorkDto {
  @WholeNumber({ min: 0 })
  readonly actions: number;

  @WholeNumber({ min: 0 })
  readonly triage_runs: number;

  @WholeNumber({ min: 0 })
  readonly playbook_runs: number;

  static from({ actions, triage_runs, playbook_runs }: HeldCounts): HeldWorkDto {
    return { actions, triage_runs, playbook_runs };
  }
}

/** The switch and its last changes. */
export class KillSwitchDto {
  @Flag()
  readonly active: boolean;

  @Text({ optional: true, description: 'Reason of the last activation.' })
  readonly reason?: string;

  @Text({ optional: true })
  readonly activated_by?: string;

  @Instant({ optional: true })
  readonly activated_at?: string;

  @Text({ optional: true })
  readonly deactivated_by?: string;

  @Instant({ optional: true })
  readonly deactivated_at?: string;

  @Text({ optional: true })
  readonly deactivation_reason?: string;

  static from(state: KillSwitchState): KillSwitchDto {
    return {
      active: state.active,
      reason: state.reason,
      activated_by: state.activatedBy,
      activated_at: state.activatedAt?.toISOString(),
      deactivated_by: state.deactivatedBy,
      deactivated_at: state.deactivatedAt?.toISOString(),
      deactivation_reason: state.deactivationReason,
    };
  }
}

export class KillSwitchStatusDto extends KillSwitchDto {
  @Nested(() => HeldWorkDto, { description: 'Work that waits for the deactivation.' })
  readonly held: HeldWorkDto;

  static of(state: KillSwitchState, held: HeldCounts): KillSwitchStatusDto {
    return { ...KillSwitchDto.from(state), held: HeldWorkDto.from(held) };
  }
}

export class KillSwitchActivationDto extends KillSwitchDto {
  @WholeNumber({
    optional: true,
    min: 0,
    description:
      'Calls that started before the activation and are still in progress. Absent if they could not be counted in time.',
  })
  readonly in_flight?: number;

  static of(state: Activated): KillSwitchActivationDto {
    return { ...KillSwitchDto.from(state), in_flight: state.inFlight };
  }
}

export class KillSwitchDeactivationDto extends KillSwitchDto {
  @Nested(() => HeldWorkDto, {
    optional: true,
    description: 'Discarded work, if `held` was `discard`.',
  })
  readonly discarded?: HeldWorkDto;

  static of(state: Deactivated): KillSwitchDeactivationDto {
    return {
      ...KillSwitchDto.from(state),
      discarded: state.discarded && HeldWorkDto.from(state.discarded),
    };
  }
}
