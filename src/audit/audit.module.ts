import { Global, Module } from '@nestjs/common';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditKeys } from './audit-keys.js';
import { AuditListRepository } from './audit-list.repository.js';
import { AuditLog } from './audit-log.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditSealing } from './audit-sealing.js';
import { AuditVerifier } from './audit-verifier.js';
import { AuditVerifyRepository } from './audit-verify.repository.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

@Global()
@Module({
  controllers: [AuditController],
  providers: [
    AuditKeys,
    AuditLog,
    AuditChainRepository,
    AuditSealer,
    AuditSealing,
    AuditVerifyRepository,
    AuditVerifier,
    AuditListRepository,
    AuditService,
  ],
  exports: [AuditLog, AuditService],
})
export class AuditModule {}
