import { Readable } from 'node:stream';
import { Controller, Get, Header, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Requires } from '../platform/access/access.js';
import { RawAnswer } from '../platform/http/answering-adapter.js';
import type { FastifyRequest } from '../platform/http/request.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { AuditExport } from './export/audit-export.js';
import { AuditExportQueryDto, EXPORT_SCHEMA } from './export/audit-export.dto.js';
import { AuditQueryDto, AuditRecordDto, AuditVerificationDto } from './audit.dto.js';
import { AuditService, subjectFilter } from './audit.service.js';

const AS_FILE = 'attachment; filename="audit.ndjson"';

@ApiTags('Audit')
@Controller('api/audit')
@Requires('manager')
export class AuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly exports: AuditExport,
  ) {}

  @Get()
  @Operation(
    'listAudit',
    'Who did what, and when',
    'Newest first. Each change is here, each login, and what was refused. An entry appears in the transaction of its change, and gets its `hash` within about a second.',
  )
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

  @Get('export')
  @Requires('admin')
  @RawAnswer()
  @Header('content-type', 'application/x-ndjson')
  @Operation(
    'exportAudit',
    'Export a part of the audit trail with its seals',
    'Lines of JSON, in the order of the chain: a header (`type` `export`), the entries with their seals, those that are not\n' +
      'sealed yet (without `seal`), and an end. Entries of other times that were sealed in between are there too, because the\n' +
      'chain would not hold without them. `npm run audit:verify -- FILE` verifies the file with SECRETS_KEY alone. That\n' +
      'somebody exported becomes an entry itself; a HEAD, which hands nothing out, does not. A `from` after `to` is a time without\n' +
      'entries: header and end alone.\n\n' +
      'It is a file of text in UTF-8, read line by line, and may be large. Generated clients that choose by the type hand it out\n' +
      "as a Blob or a stream; where they ask how to read it, say text (`parseAs: 'text'`).",
  )
  @ApiAnswer({
    status: 200,
    description: 'The lines. A file without the line of `type` `end` is not whole.',
    contentType: 'application/x-ndjson',
    schema: EXPORT_SCHEMA,
    headers: {
      'Content-Disposition': {
        description: 'That browsers keep it as a file.',
        schema: { type: 'string', enum: [AS_FILE] },
      },
    },
  })
  async export(
    @Query() { from, to }: AuditExportQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const lines = await this.linesFor(request, { from, to });
    // Here, and not as a decorator: an error is no file.
    reply.header('content-disposition', AS_FILE);
    return lines;
  }

  private async linesFor(
    request: FastifyRequest,
    { from, to }: AuditExportQueryDto,
  ): Promise<Readable> {
    if (request.method === 'HEAD') return Readable.from([]);
    return await this.exports.open(request.caller!, {
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    });
  }

  @Get('verify')
  @Operation(
    'verifyAudit',
    'Find out whether the audit trail was tampered with',
    'Reads everything that was ever recorded: a second or two for each hundred thousand entries.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What was found.',
    type: AuditVerificationDto,
  })
  async verify(): Promise<AuditVerificationDto> {
    return AuditVerificationDto.from(await this.audit.verify());
  }
}
