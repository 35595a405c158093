import { Global, Module } from '@nestjs/common';
import { AuditAnchor } from './anchor/audit-anchor.js';
import { AuditBacklog } from './chain/audit-backlog.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditExport } from './export/audit-export.js';
import { AuditExportRepository } from './export/audit-export.repository.js';
import { AuditKeys } from './chain/audit-keys.js';
import { AuditListRepository } from './audit-list.repository.js';
import { AuditLog } from './audit-log.js';
import { AuditSealer } from './chain/audit-sealer.js';
import { AuditSealingLoop } from './chain/audit-sealing-loop.js';
import { AuditSignals } from './audit-signals.js';
import { AuditVerifier } from './verification/audit-verifier.js';
import { AuditVerifyRepository } from './verification/audit-verify.repository.js';
import { AuditWitness } from './anchor/audit-witness.js';
import { AuditWriter } from './writing/audit-writer.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditKeys,
    AuditWriter,
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
  ],
  exports: [AuditLog, AuditService],
})
export class AuditModule {}
