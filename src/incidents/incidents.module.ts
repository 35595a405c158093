import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IncidentsService, IncidentEndings } from './incidents.service.js';
import { IncidentsController } from './incidents.controller.js';
import { IncidentCreation } from './incident-creation.js';
import { Incidents } from './incidents.js';
import { IncidentReports } from './reports/incident-reports.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';

@Module({
  imports: [AuthModule],
  controllers: [IncidentsController],
  providers: [
    IncidentCreation,
    IncidentEndings,
    IncidentReports,
    Incidents,
    IncidentTimeline,
    IncidentsService,
  ],
  exports: [
    IncidentCreation,
    IncidentEndings,
    IncidentReports,
    IncidentTimeline,
    Incidents,
    IncidentsService,
  ],
})
export class IncidentsModule {}
