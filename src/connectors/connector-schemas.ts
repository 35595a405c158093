import { FALCON_SCHEMA } from './adapters/crowdstrike-falcon/falcon-config.js';
import { HTTP_SCHEMA } from './adapters/http/http-config.js';
import { JIRA_SCHEMA } from './adapters/jira/jira.type.js';
import { DEFENDER_SCHEMA } from './adapters/microsoft-defender/defender-config.js';
import { GRAPH_SCHEMA } from './adapters/microsoft-graph/graph-config.js';
import { OKTA_SCHEMA } from './adapters/okta/okta.connector.js';
import { SANDBOX_SCHEMA } from './adapters/sandbox/sandbox.connector.js';
import { SLACK_SCHEMA } from './adapters/slack/slack.connector.js';
import { SMTP_SCHEMA } from './adapters/smtp/smtp-config.js';
import { VIRUSTOTAL_SCHEMA } from './adapters/virustotal/virustotal.connector.js';
import type { ConfigSchema } from './config/config-schema.js';

/**
 * The configuration of each type, for the contract, which is made while there is no ConnectorTypes to ask. A test holds
 * the two against each other.
 */
export const CONNECTOR_SCHEMAS: Readonly<Record<string, ConfigSchema>> = {
  crowdstrike_falcon: FALCON_SCHEMA,
  http: HTTP_SCHEMA,
  jira: JIRA_SCHEMA,
  microsoft_defender: DEFENDER_SCHEMA,
  microsoft_graph: GRAPH_SCHEMA,
  okta: OKTA_SCHEMA,
  sandbox: SANDBOX_SCHEMA,
  slack: SLACK_SCHEMA,
  smtp: SMTP_SCHEMA,
  virustotal: VIRUSTOTAL_SCHEMA,
};
