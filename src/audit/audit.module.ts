import { Global, Module } from '@nestjs/common';
import { AuditAnchor } from './chain/audit-witness.js';
import { ChangeFeed } from './changes/change-feed.js';
import { RecordedChangesRepository } from './changes/recorded-changes.repository.js';
import { VersionHistory } from './changes/version-history.js';
import { AuditBacklog, AuditSealer, AuditSealingLoop } from './chain/audit-sealer.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditExport } from './export/audit-export.js';
import { AuditExportRepository } from './export/audit-export.repository.js';
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
    AuditAnchor,
    AuditChainRepository,
    AuditBacklog,
    AuditSealer,
    AuditSealingLoop,
    AuditSignals,
    AuditVerifier,
    AuditRepository,
    AuditExportRepository,
    AuditExport,
    AuditService,
    ChangeFeed,
    RecordedChangesRepository,
    VersionHistory,
  ],
  exports: [AuditLog, AuditService, ChangeFeed, VersionHistory],
})
export class AuditModule {}
