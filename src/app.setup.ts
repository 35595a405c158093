import fastifyCookie from '@fastify/cookie';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions } from 'fastify';
import type { Server } from 'node:http';
import { AppModule, type Ground } from './app.module.js';
import { installAnswerTransport } from './platform/http/answer-transport.js';
import { AnsweringAdapter } from './platform/http/answering-adapter.js';
import { installBodyReader } from './platform/http/body.guard.js';
import { BodyMemory } from './platform/http/arriving-body.js';
import { Draining, installDraining, OpenConnections } from './platform/http/draining.js';
import {
  installForwardedAddresses,
  requestIdOf,
  withReadablePath,
  installRequestTraces,
} from './platform/http/incoming-request.js';
import {
  answerClientError,
  answerFrameworkError,
  answerWhatNodeWould,
} from './platform/http/framework-answers.js';
import { KnownRoutes } from './platform/http/known-routes.js';
import { installSecurityHeaders } from './platform/http/security-headers.js';
import { installRequestLog } from './platform/logging/request-log.js';
import { ServiceLogger } from './platform/logging/logger.js';
import { HttpMetrics } from './platform/metrics/http-metrics.js';
import { OKTA_CHALLENGE_CONSTRAINT } from './webhooks/signatures/okta-verification.js';

/** Maximum length of a path parameter: as long as a request line. Handlers reject longer ids. */
const LONGEST_PARAMETER = 16_384;

/** Time for a request to arrive: a slow body holds a connection and memory. */
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
      // The service writes its own response: see answerWhatNodeWould.
      requireHostHeader: false,
      // Bytes of an unread body after which its sender must wait. Tiny chunks cost far more than their bytes.
      highWaterMark: 8_192,
    },
  };
  return new AnsweringAdapter(options);
}

/** Creates the app for production, tests and the OpenAPI document, ready to listen. */
export async function createApp(ground: Ground): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.on(ground),
    createAdapter(ground),
    { bodyParser: false, bufferLogs: true, abortOnError: false },
  );
  app.useLogger(new ServiceLogger(ground.logger));
  app.flushLogs();
  const instance = app.getHttpAdapter().getInstance();
  const routes = app.get(KnownRoutes);
  routes.watch(instance);
  installRequestTraces(instance);
  if (ground.settings.trustProxy.length > 0) installForwardedAddresses(instance);
  installSecurityHeaders(instance);
  installRequestLog(instance, ground.logger);
  app.get(HttpMetrics).watch(instance);
  answerWhatNodeWould(instance);
  routes.refuseOtherMethods(instance);
  installDraining(instance, app.get(Draining));
  app.get(OpenConnections).watch(instance.server);
  installBodyReader(instance, app.get(BodyMemory));
  installAnswerTransport(instance, routes);
  await app.register(fastifyCookie);
  await app.init();
  return app;
}
