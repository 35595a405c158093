import { Module } from '@nestjs/common';
import { AffectedWork } from './affected-work.js';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { KillSwitchService } from './kill-switch.service.js';
import { KillSwitchSignals } from './kill-switch-signals.js';
import { KillSwitchStatus } from './kill-switch-status.js';
import { Settling } from './settling.js';
import { SwitchLock } from './switch-lock.js';
import { SwitchTurning } from './switch-turning.js';

@Module({
  controllers: [KillSwitchController],
  providers: [
    AffectedWork,
    KillSwitchRepository,
    KillSwitchService,
    { provide: KillSwitch, useExisting: KillSwitchService },
    KillSwitchSignals,
    KillSwitchStatus,
    Settling,
    SwitchLock,
    SwitchTurning,
  ],
  exports: [KillSwitch],
})
export class KillSwitchModule {}
