import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
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

/** Serves the committed documents, from which clients are generated. The JSON has no white space. */
@ApiTags('System')
@Controller()
@AnyQuery()
@Public()
export class ContractController {
  private known?: Documents;

  constructor(private readonly settings: Settings) {}

  @Get('openapi.json')
  @Operation(
    'getOpenApiJson',
    'Read this document as JSON',
    'The same for all callers. It changes only with a release.',
  )
  @ApiDocument('application/json')
  asJson(@Res() reply: FastifyReply): void {
    sendFile(reply, this.documents().json, CACHING);
  }

  @Get('openapi.yaml')
  @Operation(
    'getOpenApiYaml',
    'Read this document as YAML',
    'The same content as the JSON, for people who read it.',
  )
  @ApiDocument('application/yaml')
  asYaml(@Res() reply: FastifyReply): void {
    sendFile(reply, this.documents().yaml, CACHING);
  }

  /** Returns the committed documents with the URL of this service, which generated clients call. */
  private documents(): Documents {
    if (this.known) return this.known;
    const { publicUrl, port } = this.settings;
    const url = publicUrl?.replace(/\/+$/, '') ?? `http://127.0.0.1:${port}`;
    const committed = JSON.parse(fileOf('openapi.json')) as { servers: [{ url: string }] };
    const [server] = committed.servers;
    const yaml = fileOf('openapi.yaml').replace(`url: ${server.url}`, `url: ${url}`);
    const json = JSON.stringify({ ...committed, servers: [{ ...server, url }] });
    return (this.known = {
      json: new StaticFile(JSON_UTF8, Buffer.from(json)),
      yaml: new StaticFile('application/yaml; charset=utf-8', Buffer.from(yaml)),
    });
  }
}
