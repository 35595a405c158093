import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IncidentCounts } from './counting/incident-counts.js';
import { IncidentCountsRepository } from './counting/incident-counts.repository.js';
import { IncidentCreation } from './incident-creation.js';
import { IncidentEndings } from './incident-endings.js';
import { IncidentRepository } from './records/incident.repository.js';
import { IncidentInsertRepository } from './records/incident-insert.repository.js';
import { IncidentsController } from './incidents.controller.js';
import { IncidentReports } from './reports/incident-reports.js';
import { IncidentsService } from './incidents.service.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';
import { TimelineRepository } from './timeline/timeline.repository.js';

@Module({
  imports: [AuthModule],
  controllers: [IncidentsController],
  providers: [
    IncidentCounts,
    IncidentCountsRepository,
    IncidentCreation,
    IncidentEndings,
    IncidentReports,
    IncidentRepository,
    IncidentTimeline,
    IncidentInsertRepository,
    IncidentsService,
    TimelineRepository,
  ],
  exports: [IncidentCreation, IncidentEndings, IncidentReports, IncidentTimeline, IncidentsService],
})
export class IncidentsModule {}
