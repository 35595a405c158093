import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { ActionsModule } from './actions/actions.module.js';
import { ApprovalsModule } from './actions/approvals/approvals.module.js';
import { AttentionModule } from './attention/attention.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { AuthenticationGuard, RoleGuard } from './auth/authentication.js';
import { PlatformModule } from './platform/platform.module.js';
import { Refusals } from './auth/refusals.js';
import { InputGuard, RequestGuard } from './platform/http/request.guard.js';
import { ErrorFilter } from './platform/http/answer.js';
import { loggerParams } from './platform/logging/logger.js';
import { StrictValidationPipe } from './platform/validation/validation.pipe.js';
import type { Settings } from './platform/config/settings.js';
import { ConnectorsModule } from './connectors/connectors.module.js';
import { DocsModule } from './platform/docs/docs.controller.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { DeadJobsModule } from './dead-jobs/dead-jobs.module.js';
import { HealthModule } from './health/health.module.js';
import { IncidentsModule } from './incidents/incidents.module.js';
import { IdempotencyGuard } from './platform/idempotency/idempotency.js';
import { KillSwitchModule } from './kill-switch/kill-switch.module.js';
import { RateLimitGuard } from './platform/limits/limits.js';
import { TriageModule } from './triage/triage.module.js';
import { PlaybooksModule } from './playbooks/playbooks.module.js';
import { HmacGuard } from './webhooks/signatures/hmac.guard.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

export interface Ground {
  readonly settings: Settings;
  readonly dataSource: DataSource;
  readonly logger: Logger;
  /** Modules that only tests add. */
  readonly alongside?: readonly Type[];
}

@Module({})
export class AppModule {
  static on({ settings, dataSource, logger, alongside = [] }: Ground): DynamicModule {
    return {
      module: AppModule,
      imports: [
        LoggerModule.forRoot(loggerParams(logger)),
        PlatformModule.on(settings, dataSource),
        AuditModule,
        AuthModule,
        IncidentsModule,
        KillSwitchModule,
        ConnectorsModule,
        ActionsModule,
        ApprovalsModule,
        PlaybooksModule,
        TriageModule,
        WebhooksModule,
        NotificationsModule,
        AttentionModule,
        DeadJobsModule,
        HealthModule,
        DocsModule,
        ...alongside,
      ],
      providers: [
        // If several guards reject a request, the caller gets the error of the first guard in this order.
        { provide: APP_GUARD, useExisting: AuthenticationGuard },
        { provide: APP_GUARD, useClass: HmacGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: RequestGuard },
        { provide: APP_GUARD, useClass: RoleGuard },
        { provide: APP_GUARD, useClass: InputGuard },
        { provide: APP_GUARD, useClass: IdempotencyGuard },
        { provide: APP_PIPE, useClass: StrictValidationPipe },
        // Nest tries the last filter of this list first.
        { provide: APP_FILTER, useClass: ErrorFilter },
        { provide: APP_FILTER, useExisting: Refusals },
      ],
    };
  }
}
