import { Global, Module } from '@nestjs/common';
import { AuditAnchor } from './anchor/audit-anchor.js';
import { ChangeFeed } from './changes/change-feed.js';
import { RecordedChangesRepository } from './changes/recorded-changes.repository.js';
import { VersionHistory } from './changes/version-history.js';
import { AuditBacklog, AuditSealer, AuditSealingLoop } from './chain/audit-sealing.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditExport } from './export/audit-export.js';
import { AuditExportRepository } from './export/audit-export.repository.js';
import { AuditKeys } from './chain/audit-chain.js';
import { AuditListRepository } from './audit-list.repository.js';
import { AuditLog } from './audit-log.js';
import { AuditSignals } from './audit-signals.js';
import { AuditVerifier } from './verification/audit-verifier.js';
import { AuditVerifyRepository } from './verification/audit-verify.repository.js';
import { AuditWitness } from './anchor/audit-witness.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

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
    AuditVerifyRepository,
    AuditVerifier,
    AuditListRepository,
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
