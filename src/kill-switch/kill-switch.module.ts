import { Module } from '@nestjs/common';
import { RegisteredWork } from './registered-work.js';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { KillSwitchService } from './kill-switch.service.js';
import { KillSwitchSignals } from './kill-switch-signals.js';
import { KillSwitchStatus } from './kill-switch-status.js';
import { EarlierPermits } from './settling.js';
import { SwitchLock } from './switch-lock.js';
import { KillSwitchActivation } from './kill-switch-activation.js';

@Module({
  controllers: [KillSwitchController],
  providers: [
    RegisteredWork,
    KillSwitchRepository,
    KillSwitchService,
    { provide: KillSwitch, useExisting: KillSwitchService },
    KillSwitchSignals,
    KillSwitchStatus,
    EarlierPermits,
    SwitchLock,
    KillSwitchActivation,
  ],
  exports: [KillSwitch],
})
export class KillSwitchModule {}
