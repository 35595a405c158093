import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { PrometheusController } from '@willsoto/nestjs-prometheus';
import type { FastifyReply } from 'fastify';
import { Allow } from '../common/access.js';
import { AnyQuery, RawAnswer } from '../common/http/handler-options.js';
import { ApiAnswer } from '../common/openapi/answers.js';

@ApiTags('System')
@Controller(['metrics', 'api/metrics'])
export class MetricsController extends PrometheusController {
  /** Metrics for Prometheus. */
  @Get()
  @Allow('metrics')
  @RawAnswer()
  @AnyQuery()
  @ApiProduces('text/plain')
  @ApiOperation({ operationId: 'getMetrics', summary: 'Read the metrics' })
  @ApiAnswer({
    status: 200,
    description: 'The metrics in the Prometheus text format.',
    contentType: 'text/plain',
    example: '# TYPE http_requests_in_flight gauge\nhttp_requests_in_flight 1\n',
  })
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}
