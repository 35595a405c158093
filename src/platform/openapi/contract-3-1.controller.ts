import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Public } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { JSON_UTF8 } from '../http/answer.js';
import { sendFile, StaticFile } from '../http/static-file.js';
import { ApiAnswer, ETAG_HEADER, Operation } from './answers.js';
import { toOpenApi31 } from './version-3-1.js';

const COMMITTED = join(__dirname, '../../../openapi/openapi.json');

/** Made of the committed document when somebody first asks for it: most processes are never asked. */
@ApiTags('System')
@Controller()
@AnyQuery()
@Public()
export class Contract31Controller {
  private file?: StaticFile;

  @Get('openapi-3.1.json')
  @Operation(
    'getOpenApi31Json',
    'Read this document in the newer version of OpenAPI',
    'OpenAPI 3.1: the same contract for tools that want JSON Schema 2020-12, and what the service sends to others under `webhooks`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'This document in OpenAPI 3.1.',
    schema: { type: 'object', additionalProperties: true },
    example: { openapi: '3.1.1', info: { title: 'Incident Triage Service' } },
    headers: ETAG_HEADER,
  })
  @ApiResponse({ status: 304, description: 'The caller has it already.', headers: ETAG_HEADER })
  async asJson(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.file ??= new StaticFile(JSON_UTF8, Buffer.from(converted()));
    await sendFile(request, reply, this.file, 'no-cache');
  }
}

function converted(): string {
  const committed = JSON.parse(readFileSync(COMMITTED, 'utf8')) as Record<string, unknown>;
  return JSON.stringify(toOpenApi31(committed));
}
