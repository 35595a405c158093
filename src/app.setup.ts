import fastifyCookie from '@fastify/cookie';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions } from 'fastify';
import type { Server } from 'node:http';
import { AppModule, type Ground } from './app.module.js';
import {
  AnsweringAdapter,
  answerClientError,
  answerFrameworkError,
} from './platform/http/answer.js';
import { OpenConnections } from './platform/http/listening.js';
import { installHooks } from './platform/http/hooks.js';
import { requestIdOf, withReadablePath } from './platform/http/known-routes.js';
import { installRequestLog } from './platform/logging/request-log.js';
import { ServiceLogger } from './platform/logging/logger.js';
import { HttpMetrics } from './platform/metrics/metrics.js';
import { OKTA_CHALLENGE_CONSTRAINT } from './webhooks/signatures/hmac.guard.js';

/** As long as the longest request line, so that handlers, not the router, reject ids that are too long. */
const LONGEST_PARAMETER = 16_384;

/** Maximum time until a request has arrived completely. A slow body occupies a connection and memory. */
const REQUEST_TIMEOUT_MS = 60_000;

function createAdapter({ settings, logger }: Ground): AnsweringAdapter {
  const options: FastifyHttpOptions<Server> = {
    bodyLimit: settings.bodyLimitBytes,
    trustProxy: settings.trustProxy.length > 0 ? [...settings.trustProxy] : false,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '' }) => withReadablePath(url),
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: (error, socket) => answerClientError(error, socket, logger),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: {
      maxParamLength: LONGEST_PARAMETER,
      constraints: OKTA_CHALLENGE_CONSTRAINT,
    },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      // Maximum unread bytes of a body before its sender must wait. Tiny chunks use far more memory than their bytes.
      highWaterMark: 8_192,
      // Node would answer without the envelope. A hook rejects the request.
      requireHostHeader: false,
    },
  };
  return new AnsweringAdapter(options);
}

export async function createApp(ground: Ground): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.on(ground),
    createAdapter(ground),
    { bodyParser: false, bufferLogs: true, abortOnError: false },
  );
  app.useLogger(new ServiceLogger(ground.logger));
  app.flushLogs();
  installHooks(app);
  const instance = app.getHttpAdapter().getInstance();
  installRequestLog(instance, ground.logger, ground.settings.logLevel);
  app.get(HttpMetrics).watch(instance);
  app.get(OpenConnections).watch(instance.server);
  await app.register(fastifyCookie);
  await app.init();
  return app;
}
