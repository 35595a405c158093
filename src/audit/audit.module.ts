import { Global, Module } from '@nestjs/common';
import { AuditAnchor } from './audit-anchor.js';
import { AuditBacklog } from './audit-backlog.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditExport } from './audit-export.js';
import { AuditExportRepository } from './audit-export.repository.js';
import { AuditKeys } from './audit-keys.js';
import { AuditListRepository } from './audit-list.repository.js';
import { AuditLog } from './audit-log.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditSealing } from './audit-sealing.js';
import { AuditSignals } from './audit-signals.js';
import { AuditVerifier } from './audit-verifier.js';
import { AuditVerifyRepository } from './audit-verify.repository.js';
import { AuditWitness } from './audit-witness.js';
import { AuditWriter } from './audit-writer.js';
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
    AuditSealing,
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
