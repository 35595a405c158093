import { Module } from '@nestjs/common';
import { EarlierPermits, KillSwitchActivation } from './kill-switch-activation.js';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { KillSwitchService } from './kill-switch.service.js';
import { KillSwitchSignals } from './kill-switch-signals.js';
import { RegisteredWork } from './registered-work.js';

@Module({
  controllers: [KillSwitchController],
  providers: [
    RegisteredWork,
    KillSwitchRepository,
    KillSwitchService,
    { provide: KillSwitch, useExisting: KillSwitchService },
    KillSwitchSignals,
    EarlierPermits,
    KillSwitchActivation,
  ],
  exports: [KillSwitch],
})
export class KillSwitchModule {}
