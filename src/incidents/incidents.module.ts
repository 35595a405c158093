import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CountFold } from './counting/count-fold.js';
import { CountsRepository } from './counting/counts.repository.js';
import { IncidentCreation } from './incident-creation.js';
import { IncidentDeletion } from './incident-deletion.js';
import { IncidentReadRepository } from './records/incident-read.repository.js';
import { IncidentWriteRepository } from './records/incident-write.repository.js';
import { IncidentsController } from './incidents.controller.js';
import { IncidentsService } from './incidents.service.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';
import { TimelineRepository } from './timeline/timeline.repository.js';

@Module({
  imports: [AuthModule],
  controllers: [IncidentsController],
  providers: [
    CountFold,
    CountsRepository,
    IncidentCreation,
    IncidentDeletion,
    IncidentReadRepository,
    IncidentTimeline,
    IncidentWriteRepository,
    IncidentsService,
    TimelineRepository,
  ],
  exports: [IncidentCreation, IncidentDeletion, IncidentTimeline, IncidentsService],
})
export class IncidentsModule {}
