import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { Optional } from '../platform/validation/decorators.js';
import type { HeldCounts, KillSwitchState } from './kill-switch.js';
import type { Activated, Deactivated } from './kill-switch-activation.js';

const LONGEST_REASON = 1_000;

const REASON = {
  type: 'string',
  minLength: 1,
  maxLength: LONGEST_REASON,
  pattern: String.raw`\S`,
} as const;

const TIME = { type: 'string', format: 'date-time', required: false } as const;

export class ActivateKillSwitchDto {
  @ApiProperty({ ...REASON, example: 'The isolation playbook takes the wrong hosts.' })
  @IsString()
  @MaxLength(LONGEST_REASON)
  @Matches(/\S/, { message: 'reason must say something' })
  readonly reason: string;
}

export const HELD_CHOICES = ['resume', 'discard'] as const;
export type HeldChoice = (typeof HELD_CHOICES)[number];

export class DeactivateKillSwitchDto {
  @ApiProperty({ ...REASON, example: 'The playbook is corrected.' })
  @IsString()
  @MaxLength(LONGEST_REASON)
  @Matches(/\S/, { message: 'reason must say something' })
  readonly reason: string;

  @ApiProperty({
    enum: HELD_CHOICES,
    enumName: 'HeldChoice',
    default: 'resume',
    required: false,
    description: 'Whether what waited goes on, or ends here.',
    example: 'resume',
  })
  @Optional()
  @IsIn(HELD_CHOICES)
  readonly held?: HeldChoice;
}

export class HeldWorkDto {
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 })
  readonly actions: number;

  @ApiProperty({ type: 'integer', minimum: 0, example: 1 })
  readonly triage_runs: number;

  @ApiProperty({ type: 'integer', minimum: 0, example: 0 })
  readonly playbook_runs: number;

  static from({ actions, triage_runs, playbook_runs }: HeldCounts): HeldWorkDto {
    return { actions, triage_runs, playbook_runs };
  }
}

/** The switch, and who turned it last. */
export class KillSwitchDto {
  @ApiProperty({ type: 'boolean', example: true })
  readonly active: boolean;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Why it was activated, now or the last time.',
    example: 'The isolation playbook takes the wrong hosts.',
  })
  readonly reason?: string;

  @ApiProperty({ type: 'string', required: false, example: 'j.doe' })
  readonly activated_by?: string;

  @ApiProperty({ ...TIME, example: '2026-11-02T09:30:00.000Z' })
  readonly activated_at?: string;

  @ApiProperty({ type: 'string', required: false, example: 'm.chen' })
  readonly deactivated_by?: string;

  @ApiProperty({ ...TIME, example: '2026-11-02T10:05:00.000Z' })
  readonly deactivated_at?: string;

  @ApiProperty({ type: 'string', required: false, example: 'The playbook is corrected.' })
  readonly deactivation_reason?: string;

  static from(state: KillSwitchState): KillSwitchDto {
    return {
      active: state.active,
      reason: state.reason,
      activated_by: state.activatedBy,
      activated_at: state.activatedAt && state.activatedAt.toISOString(),
      deactivated_by: state.deactivatedBy,
      deactivated_at: state.deactivatedAt && state.deactivatedAt.toISOString(),
      deactivation_reason: state.deactivationReason,
    };
  }
}

export class KillSwitchStatusDto extends KillSwitchDto {
  @ApiProperty({ type: () => HeldWorkDto, description: 'What waits for the deactivation.' })
  readonly held: HeldWorkDto;

  static of(state: KillSwitchState, held: HeldCounts): KillSwitchStatusDto {
    return { ...KillSwitchDto.from(state), held: HeldWorkDto.from(held) };
  }
}

export class KillSwitchActivationDto extends KillSwitchDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    required: false,
    description:
      'Calls that were started before and are still under way. Absent when they could not be counted in time.',
    example: 2,
  })
  readonly in_flight?: number;

  static of(state: Activated): KillSwitchActivationDto {
    return {
      ...KillSwitchDto.from(state),
      in_flight: state.inFlight,
    };
  }
}

export class KillSwitchDeactivationDto extends KillSwitchDto {
  @ApiProperty({
    type: () => HeldWorkDto,
    required: false,
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
