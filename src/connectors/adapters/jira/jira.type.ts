import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../config/config-schema.js';
import type { Connector, ConnectorIdentity } from '../../connector.port.js';
import { ConnectorType } from '../../connector-type.port.js';
import { DEFAULT_ISSUE_TYPE, JiraConnector, type JiraConfig } from './jira.connector.js';

export const JIRA_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      description: 'The address of the site, such as https://example.atlassian.net.',
    },
    email: {
      type: 'string',
      pattern: '^[^\\s:@]+@[^\\s:@]+$',
      minLength: 3,
      maxLength: 320,
      description: 'The address of the account that the token belongs to.',
    },
    api_token: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'The token of the account that does it.',
    },
    project_key: {
      type: 'string',
      pattern: '^[A-Z][A-Z0-9_]{1,30}$',
      maxLength: 31,
      description: 'The project in which tickets are made.',
    },
    issue_type: {
      type: 'string',
      minLength: 1,
      maxLength: 60,
      default: DEFAULT_ISSUE_TYPE,
      description: 'The name of the type of the issues that are opened.',
    },
  },
  required: ['base_url', 'email', 'api_token', 'project_key'],
  additionalProperties: false,
};

@Injectable()
export class JiraType extends ConnectorType {
  readonly name = 'jira';
  readonly description = 'Jira Cloud: opens issues in one project.';
  readonly actions = ['create_ticket'] as const;
  readonly destinations = [{ address: 'base_url' }];

  readonly schema = JIRA_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const calls = new VendorCalls(this.http);
    return new JiraConnector(identity, config as unknown as JiraConfig, calls);
  }
}
