import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../access/access.js';
import { version } from '../config/process.js';
import { AnyQuery } from '../http/handler-options.js';
import { ApiAnswer, Operation } from '../openapi/answers.js';
import { Text } from '../validation/fields.js';

export class ServiceIndexDto {
  @Text({ description: 'Name of the service.' })
  readonly name = 'Incident Triage Service';

  @Text({ description: 'Version that is running, as in `/health`.' })
  readonly version = version;

  @Text({ description: 'Path of the API.' })
  readonly api = '/api';

  @Text({ description: 'Page with every operation, for people who have logged in.' })
  readonly docs = '/docs';

  @Text({ description: 'OpenAPI document, from which clients are generated.' })
  readonly openapi = '/openapi.json';

  @Text({ description: 'Health of the service.' })
  readonly health = '/health';
}

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
    'List the addresses of the service',
    'Redirects browsers, whose Accept prefers `text/html`, to the page `/docs`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Paths of the parts of the service on this host.',
    type: ServiceIndexDto,
    headers: VARY,
  })
  @ApiResponse({
    status: 303,
    description: 'Redirects a browser to `/docs`.',
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
    if (!prefersHtml(accept)) return new ServiceIndexDto();
    void reply.redirect('/docs', 303);
    return undefined;
  }
}

/** Whether the caller is a browser that opens a page: it asks for HTML, and not for JSON. */
export function prefersHtml(accept = ''): boolean {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}
