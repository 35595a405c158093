import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const SANDBOX = {
  id: STORY.sandbox,
  name: 'drill',
  type: 'sandbox',
  enabled: true,
  priority: 100,
  config: { fail: ['create_ticket'], latency_ms: 0 },
  secrets_set: [],
  status: 'degraded',
  created_at: '2026-01-30T15:12:30.014Z',
  updated_at: '2026-01-30T15:12:30.014Z',
};

const FIREWALL_ADDRESS = 'https://firewall.example.com/api';
const FIREWALL_ACTIONS = {
  block_ip: {
    method: 'POST',
    path: '/blocks',
    body: { ip: '{{ parameters.ip }}', note: 'Action {{ action.id }}' },
  },
  unblock_ip: { method: 'DELETE', path: '/blocks/{{ parameters.ip }}', idempotent: true },
};

const FIREWALL = {
  id: STORY.firewall,
  name: 'firewall',
  type: 'http',
  enabled: false,
  priority: 100,
  config: { base_url: FIREWALL_ADDRESS, actions: FIREWALL_ACTIONS },
  secrets_set: ['headers.Authorization', 'secrets.token'],
  status: 'disabled',
  created_at: '2026-01-30T15:12:10.002Z',
  updated_at: '2026-01-30T15:12:10.002Z',
};

const FALCON = {
  id: STORY.falcon,
  name: 'falcon',
  type: 'crowdstrike_falcon',
  enabled: false,
  priority: 100,
  config: { client_id: '4f2a1c0b' },
  secrets_set: ['client_secret'],
  status: 'disabled',
  created_at: '2026-01-30T15:13:00.004Z',
  updated_at: '2026-01-30T15:13:00.004Z',
};

const ANSWERED_FALCON = { data: FALCON };

export const CONNECTOR_EXAMPLES: OperationExamples = {
  createConnector: {
    http: {
      summary: 'Any tool with an API, here a firewall, to be enabled later',
      body: {
        name: 'firewall',
        type: 'http',
        enabled: false,
        config: {
          base_url: FIREWALL_ADDRESS,
          headers: { Authorization: 'Bearer {{ secrets.token }}' },
          secrets: { token: 'a-token-of-the-firewall' },
          actions: FIREWALL_ACTIONS,
        },
      },
      status: 201,
      answer: { data: FIREWALL },
    },
    sandbox: {
      summary: 'One that does nothing outside',
      body: {
        name: 'drill',
        type: 'sandbox',
        config: { latency_ms: 0, fail: ['create_ticket'] },
      },
      status: 201,
      answer: { data: SANDBOX },
    },
    crowdstrike: {
      summary: 'CrowdStrike Falcon, to be enabled later',
      body: {
        name: 'falcon',
        type: 'crowdstrike_falcon',
        enabled: false,
        config: { client_id: '4f2a1c0b', client_secret: 'a-secret-of-the-api-client' },
      },
      status: 201,
      answer: ANSWERED_FALCON,
    },
    conflict: {
      summary: 'The name is taken',
      body: { name: 'drill', type: 'sandbox', config: {} },
      status: 409,
      answer: refused('conflict', 'There is a connector named drill already.'),
    },
  },
  listConnectors: {
    by_name: {
      summary: 'In the order of their names',
      query: { sort: 'name' },
      status: 200,
      answer: { data: [SANDBOX, FALCON], meta: { page: 1, per_page: 20, total: 2 } },
    },
  },
  getConnector: {
    crowdstrike: {
      summary: 'CrowdStrike Falcon',
      path: { id: STORY.falcon },
      status: 200,
      answer: ANSWERED_FALCON,
    },
  },
  updateConnector: {
    preferred: {
      summary: 'Prefer it to others',
      path: { id: STORY.falcon },
      body: { priority: 10 },
      status: 200,
      answer: {
        data: {
          id: STORY.falcon,
          name: 'falcon',
          type: 'crowdstrike_falcon',
          enabled: false,
          priority: 10,
          config: { client_id: '4f2a1c0b' },
          secrets_set: ['client_secret'],
          status: 'disabled',
          created_at: '2026-01-30T15:13:00.004Z',
          updated_at: '2026-01-30T15:15:00.006Z',
        },
      },
    },
    conflict: {
      summary: 'The name is taken',
      path: { id: STORY.falcon },
      body: { name: 'drill' },
      status: 409,
      answer: refused('conflict', 'There is a connector named drill already.'),
    },
    secret_required: {
      summary: 'Its secrets would go to another host',
      path: { id: STORY.falcon },
      body: { config: { base_url: 'https://api.eu-1.crowdstrike.com' } },
      status: 422,
      answer: refused(
        'validation_error',
        'config.client_secret must be given again: it would be sent to another scheme, host or port than it was given for.',
        {
          details: {
            errors: [
              {
                field: 'config.client_secret',
                code: 'secret_required',
                message:
                  'config.client_secret must be given again: it would be sent to another scheme, host or port than it was given for.',
              },
            ],
          },
        },
      ),
    },
  },
  deleteConnector: {
    deleted: {
      summary: 'It is deleted',
      path: { id: STORY.falcon },
      status: 200,
      answer: { data: { id: STORY.falcon, deleted: true } },
    },
    not_found: {
      summary: 'It was deleted before',
      path: { id: STORY.falcon },
      status: 404,
      answer: refused('not_found', 'Connector not found.'),
    },
  },
  listConnectorTypes: {
    excerpt: {
      summary: 'One of them',
      status: 200,
      answer: {
        data: [
          {
            name: 'virustotal',
            description: 'VirusTotal: what its engines think of a URL, domain, address or file.',
            config_schema: {
              type: 'object',
              properties: {
                base_url: {
                  type: 'string',
                  format: 'uri',
                  minLength: 8,
                  maxLength: 2000,
                  default: 'https://www.virustotal.com/api/v3',
                },
                api_key: {
                  type: 'string',
                  pattern: '^[A-Za-z0-9_-]+$',
                  minLength: 8,
                  maxLength: 200,
                  writeOnly: true,
                },
              },
              required: ['api_key'],
              additionalProperties: false,
            },
            actions: ['lookup_url', 'lookup_domain', 'lookup_ip', 'lookup_hash'],
          },
        ],
      },
    },
  },
  getConnectorHealth: {
    two: {
      summary: 'One that was checked, and one that is not enabled',
      status: 200,
      answer: {
        data: [
          {
            id: STORY.falcon,
            name: 'falcon',
            type: 'crowdstrike_falcon',
            status: 'disabled',
            message: 'It is disabled.',
          },
          {
            id: STORY.sandbox,
            name: 'drill',
            type: 'sandbox',
            status: 'healthy',
            message: '[sandbox] Nothing to reach.',
            latency_ms: 0,
            checked_at: '2026-01-30T15:16:30.006Z',
          },
        ],
      },
    },
  },
  testConnector: {
    answers: {
      summary: 'It answers',
      path: { id: STORY.sandbox },
      status: 200,
      answer: { data: { success: true, message: '[sandbox] Nothing to reach.', latency_ms: 0 } },
    },
  },
};
