import { applyDecorators, Controller, Get, Res } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { PrometheusController } from '@willsoto/nestjs-prometheus';
import type { FastifyReply } from 'fastify';
import { Allow } from '../common/access.js';
import { AnyQuery, RawAnswer } from '../common/http/handler-options.js';
import { ApiAnswer, Operation } from '../common/openapi/answers.js';

const ReadsMetrics = (operationId: string): MethodDecorator =>
  applyDecorators(
    Get(),
    Allow('metrics'),
    RawAnswer(),
    AnyQuery(),
    ApiProduces('text/plain'),
    Operation(operationId, 'Read the metrics'),
    ApiAnswer({
      status: 200,
      description: 'The metrics in the Prometheus text format.',
      contentType: 'text/plain',
      example: '# TYPE http_requests_in_flight gauge\nhttp_requests_in_flight 1\n',
    }),
  );

@ApiTags('System')
@Controller('metrics')
export class MetricsController extends PrometheusController {
  @ReadsMetrics('getMetrics')
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}

/** One of its own, because PrometheusModule gives the controller that it knows a single path. */
@ApiTags('System')
@Controller('api/metrics')
export class ApiMetricsController extends PrometheusController {
  @ReadsMetrics('getApiMetrics')
  override index(@Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    return super.index(reply);
  }
}
