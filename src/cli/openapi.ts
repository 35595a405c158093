import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { format } from 'prettier';
import { stringify } from 'yaml';
import { AppModule } from '../app.module.js';
import { createRootLogger } from '../platform/logging/logger.js';
import { buildDocument } from '../platform/openapi/document.js';
import type { RecordedExamples } from '../platform/openapi/examples.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { writeOrCheck } from './generated-file.js';
import { ACTIONS_CONTRACT } from '../actions/actions.contract.js';
import { ATTENTION_CONTRACT } from '../attention/attention.dto.js';
import { AUDIT_CONTRACT } from '../audit/audit.dto.js';
import { AUTH_CONTRACT } from '../auth/auth.contract.js';
import { CONNECTORS_CONTRACT } from '../connectors/connectors.dto.js';
import { DEAD_JOBS_CONTRACT } from '../dead-jobs/dead-jobs.dto.js';
import { HEALTH_CONTRACT } from '../health/health.dto.js';
import { INCIDENTS_CONTRACT } from '../incidents/incidents.contract.js';
import { KILL_SWITCH_CONTRACT } from '../kill-switch/kill-switch.dto.js';
import { NOTIFICATIONS_CONTRACT } from '../notifications/notifications.dto.js';
import { PLAYBOOKS_CONTRACT } from '../playbooks/playbook.dto.js';
import { TRIAGE_CONTRACT } from '../triage/triage.dto.js';
import { WEBHOOKS_CONTRACT } from '../webhooks/webhooks.contract.js';
import { PLATFORM_CONTRACT } from '../platform/openapi/glossary.js';

/** Contracts of all modules, in the order of the groups of operations. */
const contracts = [
  INCIDENTS_CONTRACT,
  TRIAGE_CONTRACT,
  ACTIONS_CONTRACT,
  PLAYBOOKS_CONTRACT,
  KILL_SWITCH_CONTRACT,
  CONNECTORS_CONTRACT,
  WEBHOOKS_CONTRACT,
  NOTIFICATIONS_CONTRACT,
  ATTENTION_CONTRACT,
  AUTH_CONTRACT,
  AUDIT_CONTRACT,
  DEAD_JOBS_CONTRACT,
  HEALTH_CONTRACT,
  PLATFORM_CONTRACT,
];

/** Writes the OpenAPI document, or with --check compares the committed one. Needs no database. */
async function main(): Promise<void> {
  const settings = loadSettings({ LOG_LEVEL: 'silent' });
  const app = await NestFactory.create(
    AppModule.on({
      settings,
      dataSource: new DataSource({ type: 'postgres' }),
      logger: createRootLogger(settings),
    }),
    new FastifyAdapter(),
    // In preview mode Nest creates no providers, so nothing connects.
    { preview: true, abortOnError: false, logger: false },
  );
  const examples = JSON.parse(readFileSync('openapi/examples.json', 'utf8')) as RecordedExamples;
  const document = buildDocument(app, examples, contracts);
  // Indented by one space, because most of the document is indentation.
  const layout = { parser: 'json', printWidth: 100, tabWidth: 1 };
  const text = await format(JSON.stringify(document), layout);
  writeOrCheck('openapi/openapi.json', text, 'npm run openapi');
  writeOrCheck('openapi/openapi.yaml', stringify(document), 'npm run openapi');
}

void main();
