import { Module } from '@nestjs/common';
import { EarlierPermits, KillSwitchActivation, RegisteredWork } from './kill-switch-activation.js';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';
import { KillSwitchRepository } from './kill-switch.repository.js';
import { KillSwitchService, KillSwitchSignals } from './kill-switch.service.js';

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
