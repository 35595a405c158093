import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { IncidentsService } from './incidents.service.js';
import { IncidentsController } from './incidents.controller.js';
import { IncidentCreation } from './incident-creation.js';
import { Incidents } from './incidents.js';
import { IncidentReports } from './reports/incident-reports.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';

const PROVIDERS = [
  IncidentCreation,
  IncidentReports,
  Incidents,
  IncidentTimeline,
  IncidentsService,
];

@Module({
  imports: [AuthModule],
  controllers: [IncidentsController],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class IncidentsModule {}
