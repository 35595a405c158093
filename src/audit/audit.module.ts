import { Global, Module } from '@nestjs/common';
import { ChangeFeed } from './changes/change-feed.js';
import { VersionHistory } from './changes/version-history.js';
import { AuditSealer, AuditSealingLoop } from './chain/audit-sealer.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditExport } from './export/audit-export.js';
import { AuditKeys } from './chain/audit-chain.js';
import { AuditRepository } from './audit.repository.js';
import { AuditLog } from './audit-log.js';
import { AuditVerifier } from './chain/audit-verifier.js';
import { AuditWitness } from './chain/audit-witness.js';
import { AuditController } from './audit.controller.js';
import { AuditService, AuditSignals } from './audit.service.js';

@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditKeys,
    AuditLog,
    AuditWitness,
    AuditChainRepository,
    AuditSealer,
    AuditSealingLoop,
    AuditSignals,
    AuditVerifier,
    AuditRepository,
    AuditExport,
    AuditService,
    ChangeFeed,
    VersionHistory,
  ],
  exports: [AuditLog, ChangeFeed, VersionHistory],
})
export class AuditModule {}
