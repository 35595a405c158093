import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { Limited } from '../platform/limits/limited.js';
import {
  KillSwitchActivationRequestDto,
  KillSwitchDeactivationRequestDto,
  KillSwitchActivationDto,
  KillSwitchDeactivationDto,
  KillSwitchStatusDto,
} from './kill-switch.dto.js';
import { KillSwitchService } from './kill-switch.service.js';
import {
  type Activated,
  type Deactivated,
  KillSwitchActivation,
} from './kill-switch-activation.js';

/** Longer than an activation takes. For so long the answer that is kept for a repeated request counts as provisional. */
const ANSWERED_WITHIN_MS = 5_000;

@ApiTags('Kill switch')
@Controller('api/kill-switch')
export class KillSwitchController {
  constructor(
    private readonly killSwitch: KillSwitchService,
    private readonly activation: KillSwitchActivation,
  ) {}

  @Get()
  @Requires('viewer')
  @Operation(
    'getKillSwitch',
    'Read the kill switch, and count what waits for it',
    '`held` counts what is waiting for the switch to be turned off.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The switch.',
    type: KillSwitchStatusDto,
  })
  async get(): Promise<KillSwitchStatusDto> {
    const { state, held } = await this.killSwitch.readWithHeld();
    return KillSwitchStatusDto.of(state, held);
  }

  @Post('activate')
  @HttpCode(200)
  @Requires('analyst')
  @Limited({ name: 'kill_switch_activation', perMinute: 60 })
  @Operation(
    'activateKillSwitch',
    'Stop all automation and actions',
    'After the answer no action, look-up or model call starts anywhere until the deactivation. It takes a good second:\n' +
      'what was let through just before has to have left or lapsed.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The switch is on; it may have been before.',
    type: KillSwitchActivationDto,
  })
  async activate(
    @Body() { reason }: KillSwitchActivationRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<KillSwitchActivationDto> {
    const remember = idempotency.remember((state: Activated) => KillSwitchActivationDto.of(state), {
      provisionalForMs: ANSWERED_WITHIN_MS,
    });
    return KillSwitchActivationDto.of(await this.activation.activate(caller, reason, remember));
  }

  @Post('deactivate')
  @HttpCode(200)
  @Requires('manager')
  @Operation(
    'deactivateKillSwitch',
    'Let automation and actions go on',
    'What waited goes on, or with `held: discard` ends here: its actions are rejected, its runs cancelled.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The switch is off; it may have been before.',
    type: KillSwitchDeactivationDto,
  })
  async deactivate(
    @Body() { reason, held }: KillSwitchDeactivationRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<KillSwitchDeactivationDto> {
    const wanted = { reason, discard: held === 'discard' };
    const remember = idempotency.remember((state: Deactivated) =>
      KillSwitchDeactivationDto.of(state),
    );
    return KillSwitchDeactivationDto.of(await this.activation.deactivate(caller, wanted, remember));
  }
}
