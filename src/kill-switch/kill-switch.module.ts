import { Module } from '@nestjs/common';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';
import { KillSwitchRepository } from './kill-switch.repository.js';

@Module({
  controllers: [KillSwitchController],
  providers: [KillSwitchRepository, KillSwitch],
  exports: [KillSwitch],
})
export class KillSwitchModule {}
