import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Public } from '../access/access.js';
import { Settings } from '../config/settings.js';
import { AnyQuery } from '../http/handler-options.js';
import { JSON_UTF8 } from '../http/answer.js';
import { sendFile, StaticFile } from '../http/answer-transport.js';
import { ApiAnswer, ETAG_HEADER, Operation } from './answers.js';

const FOLDER = join(__dirname, '../../../openapi');
const fileOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** Caches revalidate each time, because a new release may change the document. */
const CACHING = 'no-cache';

const ApiDocument = (contentType: string): MethodDecorator =>
  ApiAnswer({
    status: 200,
    description: 'This document, compressed if the client accepts it.',
    contentType,
    schema: { type: 'object', additionalProperties: true },
    headers: ETAG_HEADER,
  });

type Documents = Readonly<Record<'json' | 'yaml', StaticFile>>;

/** By the address of the service, for all apps of a process. */
const known = new Map<string, Documents>();

/** Serves the committed documents, from which clients are generated. The JSON has no white space. */
@ApiTags('System')
@Controller()
@AnyQuery()
@Public()
export class ContractController {
  private readonly documents: Documents;

  constructor({ publicUrl, port }: Settings) {
    const url = publicUrl?.replace(/\/+$/, '') ?? `http://127.0.0.1:${port}`;
    this.documents = known.get(url) ?? readDocuments(url);
    known.set(url, this.documents);
  }

  @Get('openapi.json')
  @Operation(
    'getOpenApiJson',
    'Read this document as JSON',
    'The same for all callers. It changes only with a release.',
  )
  @ApiDocument('application/json')
  async asJson(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.documents.json, CACHING);
  }

  @Get('openapi.yaml')
  @Operation(
    'getOpenApiYaml',
    'Read this document as YAML',
    'The same content as the JSON, for people who read it.',
  )
  @ApiDocument('application/yaml')
  async asYaml(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.documents.yaml, CACHING);
  }
}

/** The committed documents. Clients that are generated from them ask the address at which they were read. */
function readDocuments(url: string): Documents {
  const committed = JSON.parse(fileOf('openapi.json')) as { servers: { url: string }[] };
  const document = { ...committed, servers: [{ ...committed.servers[0], url }] };
  const yaml = fileOf('openapi.yaml').replace(`url: ${committed.servers[0]!.url}`, `url: ${url}`);
  return {
    json: minified(document),
    yaml: new StaticFile('application/yaml; charset=utf-8', Buffer.from(yaml)),
  };
}

function minified(document: object): StaticFile {
  return new StaticFile(JSON_UTF8, Buffer.from(JSON.stringify(document)));
}
