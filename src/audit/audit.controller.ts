import { Readable } from 'node:stream';
import { Controller, Get, Header, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Requires } from '../platform/access/access.js';
import { RawAnswer } from '../platform/http/answer.js';
import type { FastifyRequest } from '../platform/http/request.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import { AuditExport } from './audit-export.js';
import {
  AuditExportQueryDto,
  EXPORT_SCHEMA,
  AuditQueryDto,
  AuditRecordDto,
  AuditVerificationDto,
} from './audit.dto.js';
import { AuditService } from './audit.service.js';
import { AuditTrail } from './chain/audit-trail.js';

const presentRecord = present(AuditRecordDto);
const AS_FILE = 'attachment; filename="audit.ndjson"';

@ApiTags('Audit')
@Controller('api/audit')
@Requires('manager')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly trail: AuditTrail,
    private readonly exports: AuditExport,
  ) {}

  @Get()
  @Operation(
    'listAudit',
    'List the entries of the audit trail',
    'Newest first. Contains all changes, logins and refused requests. An entry is written in the transaction of its change and gets its `hash` within about one second.',
  )
  @ApiAnswer(200, 'The entries.', AuditRecordDto, { list: true })
  async list(@Query() query: AuditQueryDto): Promise<ListAnswer<AuditRecordDto>> {
    return ListAnswer.of(await this.audit.list(query), query, presentRecord);
  }

  @Get('export')
  @Requires('admin')
  @RawAnswer()
  @Header('content-type', 'application/x-ndjson')
  @Operation(
    'exportAudit',
    'Export a part of the audit trail with its seals',
    'Lines of JSON, in the order of the chain: a header (`type` `export`), the entries with their seals, the entries that are not\n' +
      'sealed yet (without `seal`), and an end. Entries of other times that were sealed in between are included, because the\n' +
      'chain requires them. `npm run audit:verify -- FILE` verifies the file with SECRETS_KEY only. An export is recorded in the\n' +
      'audit trail; a HEAD request is not. If `from` is after `to`, the file has only a header and an end.\n\n' +
      'The file is UTF-8 text to be read line by line, and may be large. Generated clients that choose the type of the result\n' +
      'return a Blob or a stream; if they ask how to read it, choose text.',
  )
  @ApiAnswer(200, 'The lines. A file without a line of `type` `end` is incomplete.', undefined, {
    contentType: 'application/x-ndjson',
    schema: EXPORT_SCHEMA,
    headers: {
      'Content-Disposition': {
        description: 'Makes browsers save the file.',
        schema: { type: 'string', enum: [AS_FILE] },
      },
    },
  })
  async export(
    @Query() range: AuditExportQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const isHead = request.method === 'HEAD';
    const lines = isHead ? Readable.from([]) : await this.exports.open(request.caller!, range);
    // A decorator would set this header on error responses too, but an error response is not a file.
    reply.header('content-disposition', AS_FILE);
    return lines;
  }

  @Get('verify')
  @Operation(
    'verifyAudit',
    'Check whether the audit trail was tampered with',
    'Reads all entries: one to two seconds per hundred thousand.',
  )
  @ApiAnswer(200, 'The result.', AuditVerificationDto)
  verify(): Promise<AuditVerificationDto> {
    return this.trail.verify();
  }
}
