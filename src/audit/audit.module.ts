import { Global, Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditLog } from './audit-log.js';
import { AuditService } from './audit.service.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditKeys } from './chain/audit-chain.js';
import { AuditTrail } from './chain/audit-trail.js';
import { AuditWitness } from './chain/audit-witness.js';
import { ChangeFeed } from './changes/change-feed.js';
import { AuditExport } from './audit-export.js';

@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditKeys,
    AuditLog,
    AuditWitness,
    AuditChainRepository,
    AuditTrail,
    AuditService,
    AuditExport,
    ChangeFeed,
  ],
  exports: [AuditLog, ChangeFeed],
})
export class AuditModule {}
