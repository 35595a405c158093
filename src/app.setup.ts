import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import fastifyCookie from '@fastify/cookie';
import type { FastifyHttpOptions } from 'fastify';
import type { Server } from 'node:http';
import { AppModule, type Ground } from './app.module.js';
import { AnsweringAdapter } from './platform/http/answering-adapter.js';
import { installBodyReader } from './platform/http/body-reader.js';
import { BodyMemory } from './platform/http/body-memory.js';
import { Draining, installDraining, OpenConnections } from './platform/http/draining.js';
import {
  installForwardedAddresses,
  requestIdOf,
  withReadablePath,
} from './platform/http/incoming-request.js';
import {
  answerClientError,
  answerFrameworkError,
  answerWhatNodeWould,
} from './platform/http/framework-answers.js';
import { KnownRoutes } from './platform/http/known-routes.js';
import { installSecurityHeaders } from './platform/http/security-headers.js';
import { installRequestTraces } from './platform/http/traced-requests.js';
import { installRequestLog } from './platform/logging/request-log.js';
import { ServiceLogger } from './platform/logging/service-logger.js';
import { HttpMetrics } from './platform/metrics/http-metrics.js';

/** As long as Node lets a request line be: what is too long for an id is no id, which its handler says. */
const LONGEST_PARAMETER = 16_384;

/** For a request to arrive whole: a body that trickles in for longer holds a connection and memory for nothing. */
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
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Answered in our own words: see answerWhatNodeWould.
    http: { requireHostHeader: false },
  };
  return new AnsweringAdapter(options);
}

/** The app as production, the tests and the contract see it, ready to listen. */
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
  await app.register(fastifyCookie);
  await app.init();
  return app;
}
