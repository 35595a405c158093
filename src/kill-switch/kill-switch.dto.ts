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
  @Reason({ max: LONGEST_REASON, example: 'The isolation playbook takes the wrong hosts.' })
  readonly reason: string;
}

export const HELD_CHOICES = ['resume', 'discard'] as const;
export type HeldChoice = (typeof HELD_CHOICES)[number];

export class KillSwitchDeactivationRequestDto {
  @Reason({ max: LONGEST_REASON, example: 'The playbook is corrected.' })
  readonly reason: string;

  @Choice('HeldChoice', HELD_CHOICES, {
    optional: true,
    default: 'resume',
    description: 'Whether what waited goes on, or ends here.',
    example: 'resume',
  })
  readonly held?: HeldChoice;
}

export class HeldWorkDto {
  @WholeNumber({ min: 0, example: 3 })
  readonly actions: number;

  @WholeNumber({ min: 0, example: 1 })
  readonly triage_runs: number;

  @WholeNumber({ min: 0, example: 0 })
  readonly playbook_runs: number;

  static from({ actions, triage_runs, playbook_runs }: HeldCounts): HeldWorkDto {
    return { actions, triage_runs, playbook_runs };
  }
}

/** The switch, and who turned it last. */
export class KillSwitchDto {
  @Flag({ example: true })
  readonly active: boolean;

  @Text({
    optional: true,
    description: 'Why it was activated, now or the last time.',
    example: 'The isolation playbook takes the wrong hosts.',
  })
  readonly reason?: string;

  @Text({ optional: true, example: 'j.doe' })
  readonly activated_by?: string;

  @Instant({ optional: true, example: '2026-11-02T09:30:00.000Z' })
  readonly activated_at?: string;

  @Text({ optional: true, example: 'm.chen' })
  readonly deactivated_by?: string;

  @Instant({ optional: true, example: '2026-11-02T10:05:00.000Z' })
  readonly deactivated_at?: string;

  @Text({ optional: true, example: 'The playbook is corrected.' })
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
  @Nested(() => HeldWorkDto, { description: 'What waits for the deactivation.' })
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
      'Calls that were started before and are still under way. Absent when they could not be counted in time.',
    example: 2,
  })
  readonly in_flight?: number;

  static of(state: Activated): KillSwitchActivationDto {
    return { ...KillSwitchDto.from(state), in_flight: state.inFlight };
  }
}

export class KillSwitchDeactivationDto extends KillSwitchDto {
  @Nested(() => HeldWorkDto, {
    optional: true,
    description: 'What was discarded, when `held` was `discard`.',
  })
  readonly discarded?: HeldWorkDto;

  static of(state: Deactivated): KillSwitchDeactivationDto {
    return {
      ...KillSwitchDto.from(state),
      discarded: state.discarded && HeldWorkDto.from(state.discarded),
    };
  }
}
