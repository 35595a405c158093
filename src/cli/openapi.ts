import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { stringify } from 'yaml';
import { examples } from '../app.examples.js';
import { AppModule } from '../app.module.js';
import { createRootLogger } from '../platform/logging/logger-options.js';
import { buildDocument } from '../platform/openapi/document.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { writeOrCheck } from './generated-file.js';

/** Writes the contract, or with --check compares the committed one with the code. Needs no database. */
async function main(): Promise<void> {
  const settings = loadSettings({ LOG_LEVEL: 'silent' });
  const app = await NestFactory.create(
    AppModule.on({
      settings,
      dataSource: new DataSource({ type: 'postgres' }),
      logger: createRootLogger(settings),
    }),
    new FastifyAdapter(),
    // In preview mode Nest creates no provider, so nothing connects anywhere.
    { preview: true, abortOnError: false, logger: false },
  );
  const document = buildDocument(app, examples);
  writeOrCheck('openapi/openapi.json', `${JSON.stringify(document, null, 2)}\n`, 'npm run openapi');
  writeOrCheck('openapi/openapi.yaml', stringify(document), 'npm run openapi');
}

void main();
