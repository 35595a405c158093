import { applyDecorators, Controller, Get, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Public } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { JSON_UTF8 } from '../http/answer.js';
import { sendFile, StaticFile } from '../http/static-file.js';
import { ApiAnswer, ETAG_HEADER, Operation } from './answers.js';
import { toOpenApi31 } from './version-3-1.js';

const FOLDER = join(__dirname, '../../../openapi');
const fileOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** Kept, and asked about each time: a new release may have another one. */
const CACHING = 'no-cache';

const ApiDocument = (contentType: string): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'The ETag of what the caller has already.',
      schema: { type: 'string' },
    }),
    ApiAnswer({
      status: 200,
      description: 'This document, compressed for those who take that.',
      contentType,
      schema: { type: 'object', additionalProperties: true },
      headers: ETAG_HEADER,
    }),
    ApiResponse({ status: 304, description: 'The caller has it already.', headers: ETAG_HEADER }),
  );

/** Serves what the committed files say, from which clients are generated: the JSON without the white space that is for reviewers. */
@ApiTags('System')
@Controller()
@AnyQuery()
@Public()
export class ContractController {
  private readonly json: StaticFile;
  /** Made before the service listens: it takes so long that, made for the first who asks, all others would wait. */
  private readonly newer: StaticFile;
  private readonly yaml = new StaticFile(
    'application/yaml; charset=utf-8',
    Buffer.from(fileOf('openapi.yaml')),
  );

  constructor() {
    const document = JSON.parse(fileOf('openapi.json')) as Record<string, unknown>;
    this.json = minified(document);
    this.newer = minified(toOpenApi31(document));
  }

  @Get('openapi.json')
  @Operation(
    'getOpenApiJson',
    'Read this document as JSON',
    'It is the same for everybody, and changes with a release alone.',
  )
  @ApiDocument('application/json')
  async asJson(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.json, CACHING);
  }

  @Get('openapi-3.1.json')
  @Operation(
    'getOpenApi31Json',
    'Read this document in the newer version of OpenAPI',
    'OpenAPI 3.1: the same contract for tools that want JSON Schema 2020-12, and the events that notification channels send, as webhooks.',
  )
  @ApiDocument('application/json')
  async asNewerJson(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.newer, CACHING);
  }

  @Get('openapi.yaml')
  @Operation(
    'getOpenApiYaml',
    'Read this document as YAML',
    'The same content as the JSON, for people who read it.',
  )
  @ApiDocument('application/yaml')
  async asYaml(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.yaml, CACHING);
  }
}

function minified(document: object): StaticFile {
  return new StaticFile(JSON_UTF8, Buffer.from(JSON.stringify(document)));
}
