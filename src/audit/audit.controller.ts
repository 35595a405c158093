import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../common/access.js';
import { ApiAnswer, Operation } from '../common/openapi/answers.js';
import { ListAnswer } from '../common/paging/page.js';
import { AuditQueryDto, AuditRecordDto, AuditVerificationDto } from './audit.dto.js';
import { AuditService, subjectFilter } from './audit.service.js';

@ApiTags('Audit')
@Controller('api/audit')
@Requires('admin')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @Operation('listAudit', 'Who did what, and when')
  @ApiAnswer({ status: 200, description: 'The entries.', type: AuditRecordDto, list: true })
  async list(@Query() query: AuditQueryDto): Promise<ListAnswer<AuditRecordDto>> {
    const { page, per_page, sort, actor, action, subject, from, to } = query;
    const found = await this.audit.list({
      page,
      per_page,
      ascending: !sort.startsWith('-'),
      actor,
      action,
      subject: subject === undefined ? undefined : subjectFilter(subject),
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    });
    return ListAnswer.of(found, query, AuditRecordDto.from);
  }

  /** Reads everything that was ever recorded: a second or two for each hundred thousand entries. */
  @Get('verify')
  @Operation('verifyAudit', 'Find out whether the audit trail was tampered with')
  @ApiAnswer({ status: 200, description: 'What was found.', type: AuditVerificationDto })
  async verify(): Promise<AuditVerificationDto> {
    return AuditVerificationDto.from(await this.audit.verify());
  }
}
