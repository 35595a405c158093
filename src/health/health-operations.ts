import { applyDecorators, Get, type Type } from '@nestjs/common';
import { type Access, Allow } from '../platform/access/access.js';
import { RawAnswer } from '../platform/http/answering-adapter.js';
import { AnyQuery } from '../platform/http/handler-options.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import {
  DetailedHealthDto,
  HealthDto,
  LivenessDto,
  ReadinessDto,
  UnreadinessDto,
} from './health.dto.js';

interface Body {
  readonly description: string;
  readonly type: Type;
  readonly example?: unknown;
}

interface HealthOperation {
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly more: string;
  readonly good: Body;
  readonly bad?: Body;
}

/** Each address exists twice: at the root for probes, which have no key, and under /api, where everything needs one. */
const HealthRead =
  ({ path, id, summary, more, good, bad }: HealthOperation) =>
  (access: Access): MethodDecorator =>
    applyDecorators(
      Get(path),
      Allow(access),
      RawAnswer(),
      AnyQuery(),
      Operation(id, summary, more),
      ApiAnswer({ status: 200, raw: true, ...good }),
      ...(bad ? [ApiAnswer({ status: 503, raw: true, ...bad })] : []),
    );

const WORKS = 'The service works, perhaps with parts impaired.';
const FAILS = 'The service does not work.';

export const ReadsHealth = HealthRead({
  path: 'health',
  id: 'getHealth',
  summary: 'Read the overall health',
  more: 'For monitors. 503 when the service does not work; a part that is impaired leaves it at 200 with `degraded`.',
  good: { description: WORKS, type: HealthDto },
  bad: { description: FAILS, type: HealthDto },
});

export const ReadsDetailedHealth = HealthRead({
  path: 'health/detailed',
  id: 'getDetailedHealth',
  summary: 'Read the health of every part',
  more: 'What each part says of itself. It answers when the database is down, too, with METRICS_TOKEN.',
  good: { description: WORKS, type: DetailedHealthDto },
  bad: { description: FAILS, type: DetailedHealthDto },
});

/** For the probe that restarts a process: it does not depend on the database. */
export const ReadsLiveness = HealthRead({
  path: 'live',
  id: 'getLiveness',
  summary: 'Tell whether the process is alive',
  more: 'For the probe that restarts the process: it depends on nothing else, not on the database either.',
  good: { description: 'The process is alive.', type: LivenessDto },
});

/** For the probe that sends traffic: it fails while the database is unreachable or cannot be written to, or the service stops. */
export const ReadsReadiness = HealthRead({
  path: 'ready',
  id: 'getReadiness',
  summary: 'Tell whether the service takes requests',
  more: 'For the probe that sends traffic: not while the database cannot be reached or written to, and not while the service stops.',
  good: { description: 'The service takes requests.', type: ReadinessDto },
  bad: { description: 'The service does not take requests now.', type: UnreadinessDto },
});
