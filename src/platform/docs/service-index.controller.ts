import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../access/access.js';
import { version } from '../config/process.js';
import { AnyQuery } from '../http/handler-options.js';
import { ApiAnswer, Operation } from '../openapi/answers.js';
import { Text } from '../validation/fields.js';

const Address = (description: string, example: string) => Text({ description, example });

export class ServiceIndexDto {
  @Text({ description: 'What this service is.', example: 'Incident Triage Service' })
  readonly name: string;

  @Text({ description: 'The version that runs, as `/health` tells it, too.', example: '0.1.0' })
  readonly version: string;

  @Address('Where the addresses of the API begin.', '/api')
  readonly api: string;

  @Address('The page with every operation, for people who have logged in.', '/docs')
  readonly docs: string;

  @Address('The contract, from which clients are generated.', '/openapi.json')
  readonly openapi: string;

  @Address('Whether the service works.', '/health')
  readonly health: string;
}

/** Public: the contract and the health show the same. */
const SERVICE_INDEX: ServiceIndexDto = {
  name: 'Incident Triage Service',
  version,
  api: '/api',
  docs: '/docs',
  openapi: '/openapi.json',
  health: '/health',
};

const VARY = {
  Vary: { description: 'Always `Accept`.', schema: { type: 'string' as const, example: 'Accept' } },
};

/** Answers at the root of the host. */
@ApiTags('System')
@Controller()
@Public()
@AnyQuery()
export class ServiceIndexController {
  @Get()
  @Operation(
    'getServiceIndex',
    'Find out what is where',
    'For whoever knows nothing but the host. A browser, whose Accept prefers `text/html`, is led to the page `/docs`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Where the parts of the service are, as paths on this host.',
    type: ServiceIndexDto,
    headers: VARY,
  })
  @ApiResponse({
    status: 303,
    description: 'To a browser: go on at `/docs`.',
    headers: {
      Location: { description: 'Always `/docs`.', required: true, schema: { type: 'string' } },
      ...VARY,
    },
  })
  index(
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): ServiceIndexDto | undefined {
    void reply.header('vary', 'Accept');
    if (!prefersHtml(accept)) return SERVICE_INDEX;
    void reply.redirect(SERVICE_INDEX.docs, 303);
    return undefined;
  }
}

/** Whether the caller is a browser that opens a page: it asks for HTML, and not for JSON. */
export function prefersHtml(accept = ''): boolean {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}
