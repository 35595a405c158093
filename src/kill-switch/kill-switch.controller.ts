import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { Limited } from '../platform/limits/limits.js';
import { present } from '../platform/validation/present.js';
import { KillSwitch } from './kill-switch.js';
import {
  KillSwitchActivationRequestDto,
  KillSwitchDeactivationRequestDto,
  KillSwitchActivationDto,
  KillSwitchDeactivationDto,
  KillSwitchStatusDto,
} from './kill-switch.dto.js';

/** Time for which the stored response is provisional. Longer than an activation takes. */
const ANSWERED_WITHIN_MS = 5_000;

const presentStatus = present(KillSwitchStatusDto);
const presentActivation = present(KillSwitchActivationDto);
const presentDeactivation = present(KillSwitchDeactivationDto);

@ApiTags('Kill switch')
@Controller('api/kill-switch')
export class KillSwitchController {
  constructor(private readonly killSwitch: KillSwitch) {}

  @Get()
  @Requires('viewer')
  @Operation(
    'getKillSwitch',
    'Read the kill switch and count waiting work',
    '`held` counts the work that waits until the switch is turned off.',
  )
  @ApiAnswer(200, 'The switch.', KillSwitchStatusDto)
  async get(): Promise<KillSwitchStatusDto> {
    return presentStatus(await this.killSwitch.readWithHeld());
  }

  @Post('activate')
  @HttpCode(200)
  @Requires('analyst')
  @Limited({ name: 'kill_switch_activation', perMinute: 60 })
  @Operation(
    'activateKillSwitch',
    'Stop all automation and actions',
    'After the response, no action, look-up or model call starts until the deactivation. The request takes more than one\n' +
      'second: earlier permits must be used or expire first.',
  )
  @ApiAnswer(200, 'The switch is on.', KillSwitchActivationDto)
  async activate(
    @Body() { reason }: KillSwitchActivationRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<KillSwitchActivationDto> {
    const provisional = { provisionalForMs: ANSWERED_WITHIN_MS };
    const remember = idempotency.remember(presentActivation, provisional);
    return presentActivation(await this.killSwitch.activate(caller, reason, remember));
  }

  @Post('deactivate')
  @HttpCode(200)
  @Requires('manager')
  @Operation(
    'deactivateKillSwitch',
    'Resume automation and actions',
    'Waiting work continues. With `held: discard` it ends: actions are rejected, and runs are cancelled.',
  )
  @ApiAnswer(200, 'The switch is off.', KillSwitchDeactivationDto)
  async deactivate(
    @Body() body: KillSwitchDeactivationRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<KillSwitchDeactivationDto> {
    const remember = idempotency.remember(presentDeactivation);
    return presentDeactivation(await this.killSwitch.deactivate(caller, body, remember));
  }
}
