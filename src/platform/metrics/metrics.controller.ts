import { applyDecorators, Controller, Get, Res } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { PrometheusController } from '@willsoto/nestjs-prometheus';
import type { FastifyReply } from 'fastify';
import { type Access, Allow } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { ApiAnswer, Operation, TWINS_UNDER_API } from '../openapi/answers.js';

const ReadsMetrics = (access: Access): MethodDecorator =>
  applyDecorators(
    Get(),
    Allow(access),
    AnyQuery(),
    ApiProduces('text/plain'),
    Operation(
      'getMetrics',
      'Read the metrics',
      'Metrics for Prometheus. If METRICS_TOKEN is set, the request must send it.',
    ),
    ApiAnswer(200, 'The metrics in the Prometheus text format.', undefined, {
      contentType: 'text/plain',
    }),
  );

@ApiTags('System')
@Controller('metrics')
export class MetricsController extends PrometheusController {
  @ReadsMetrics('metrics')
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}

/** PrometheusModule supports only one path. A path under /api always requires a key, session or token. */
@ApiTags(TWINS_UNDER_API)
@Controller('api/metrics')
export class ApiMetricsController extends PrometheusController {
  @ReadsMetrics('operations')
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}
