import { Module } from '@nestjs/common';
import { KillSwitch } from './kill-switch.js';
import { KillSwitchController } from './kill-switch.controller.js';

@Module({
  controllers: [KillSwitchController],
  providers: [KillSwitch],
  exports: [KillSwitch],
})
export class KillSwitchModule {}
