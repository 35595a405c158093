import { Controller, Get, Headers, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../access/access.js';
import { prefersHtml } from '../http/accepted-type.js';
import { AnyQuery } from '../http/handler-options.js';
import { ApiAnswer, Operation } from '../openapi/answers.js';
import { SERVICE_INDEX, ServiceIndexDto } from './service-index.dto.js';

const VARY = {
  Vary: { description: 'Always `Accept`.', schema: { type: 'string' as const, example: 'Accept' } },
};

/** What whoever knows nothing but the host is answered. */
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
