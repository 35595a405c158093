import { Module } from '@nestjs/common';
import { AttentionController } from './attention.controller.js';
import { AttentionService } from './attention.service.js';
import { FlowLag } from './flow-lag.js';

@Module({
  controllers: [AttentionController],
  providers: [AttentionService, FlowLag],
})
export class AttentionModule {}
