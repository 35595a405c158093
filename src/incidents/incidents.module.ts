import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IncidentsService, IncidentEndings } from './incidents.service.js';
import { IncidentsController } from './incidents.controller.js';
import { IncidentCreation } from './incident-creation.js';
import { IncidentRepository } from './records/incident.repository.js';
import { IncidentReports } from './reports/incident-reports.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';

@Module({
  imports: [AuthModule],
  controllers: [IncidentsController],
  providers: [
    IncidentCreation,
    IncidentEndings,
    IncidentReports,
    IncidentRepository,
    IncidentTimeline,
    IncidentsService,
  ],
  exports: [IncidentCreation, IncidentEndings, IncidentReports, IncidentTimeline, IncidentsService],
})
export class IncidentsModule {}
