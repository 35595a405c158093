import { applyDecorators, Controller, Get, Res } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { PrometheusController } from '@willsoto/nestjs-prometheus';
import type { FastifyReply } from 'fastify';
import { type Access, Allow } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { TWINS_UNDER_API } from '../openapi/operations.js';
import { ApiAnswer, Operation } from '../openapi/answers.js';

const ReadsMetrics = (access: Access): MethodDecorator =>
  applyDecorators(
    Get(),
    Allow(access),
    AnyQuery(),
    ApiProduces('text/plain'),
    Operation(
      'getMetrics',
      'Read the metrics',
      'What is measured, for Prometheus. Where METRICS_TOKEN is set, it is needed.',
    ),
    ApiAnswer({
      status: 200,
      description: 'The metrics in the Prometheus text format.',
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

/** One of its own: PrometheusModule knows a single path, and under /api a key, a session or the token is always needed. */
@ApiTags(TWINS_UNDER_API)
@Controller('api/metrics')
export class ApiMetricsController extends PrometheusController {
  @ReadsMetrics('operations')
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}
