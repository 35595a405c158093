import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Public } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { JSON_UTF8 } from '../http/answer.js';
import { ApiAnswer, Operation } from './answers.js';

const FOLDER = join(__dirname, '../../../openapi');

const DOCUMENT = {
  schema: { type: 'object', additionalProperties: true },
} as const;

/** Serves the committed files, byte for byte: the service shows the same document from which clients are generated. */
@ApiTags('System')
@Controller()
@AnyQuery()
@Public()
export class ContractController {
  private readonly json = readFileSync(join(FOLDER, 'openapi.json'));
  private readonly yaml = readFileSync(join(FOLDER, 'openapi.yaml'));

  @Get('openapi.json')
  @Operation('getOpenApiJson', 'Read this document as JSON')
  @ApiAnswer({
    status: 200,
    description: 'This document.',
    ...DOCUMENT,
  })
  asJson(@Res() reply: FastifyReply): void {
    void reply.type(JSON_UTF8).send(this.json);
  }

  @Get('openapi.yaml')
  @Operation('getOpenApiYaml', 'Read this document as YAML')
  @ApiAnswer({
    status: 200,
    description: 'This document.',
    contentType: 'application/yaml',
    ...DOCUMENT,
  })
  asYaml(@Res() reply: FastifyReply): void {
    void reply.type('application/yaml; charset=utf-8').send(this.yaml);
  }
}
