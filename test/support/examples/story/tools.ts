import { by, type Scene } from '../scene.js';
import { malwareAlert } from './events-and-triage.js';

export const TOOLS: readonly Scene[] = [
  by.admin('createConnector', 201, {
    shows: ['http', 'Any tool with an API, here a firewall, to be enabled later'],
    body: {
      name: 'firewall',
      type: 'http',
      enabled: false,
      config: {
        base_url: 'https://firewall.example.com/api',
        headers: { Authorization: 'Bearer {{ secrets.token }}' },
        secrets: { token: 'a-token-of-the-firewall' },
        actions: {
          block_ip: {
            method: 'POST',
            path: '/blocks',
            body: { ip: '{{ parameters.ip }}', note: 'Action {{ action.id }}' },
          },
          unblock_ip: { method: 'DELETE', path: '/blocks/{{ parameters.ip }}', idempotent: true },
        },
      },
    },
    keeps: { firewall: '/data/id' },
  }),
  by.admin('deleteConnector', 200, { path: { id: '{firewall}' } }),
  by.admin('createConnector', 201, {
    shows: ['sandbox', 'One that does nothing outside'],
    body: { name: 'drill', type: 'sandbox', config: { latency_ms: 0, fail: ['create_ticket'] } },
    keeps: { sandbox: '/data/id' },
  }),
  by.admin('createConnector', 201, {
    shows: ['crowdstrike', 'CrowdStrike Falcon, to be enabled later'],
    body: {
      name: 'falcon',
      type: 'crowdstrike_falcon',
      enabled: false,
      config: { client_id: '4f2a1c0b', client_secret: 'a-secret-of-the-api-client' },
    },
    keeps: { falcon: '/data/id' },
  }),
  by.admin('createConnector', 409, {
    body: { name: 'drill', type: 'sandbox', config: {} },
    code: 'conflict',
  }),
  by.alice('listConnectors', 200, {
    shows: ['by_name', 'The first by name'],
    query: { sort: 'name', per_page: '1' },
  }),
  by.alice('getConnector', 200, {
    shows: ['crowdstrike', 'CrowdStrike Falcon'],
    path: { id: '{falcon}' },
  }),
  by.admin('updateConnector', 200, {
    shows: ['preferred', 'Prefer it to others'],
    path: { id: '{falcon}' },
    body: { priority: 10 },
  }),
  by.admin('updateConnector', 409, {
    path: { id: '{falcon}' },
    body: { name: 'drill' },
    code: 'conflict',
  }),
  by.admin('updateConnector', 422, {
    path: { id: '{falcon}' },
    body: { config: { base_url: 'https://api.eu-1.crowdstrike.com' } },
    code: 'validation_error',
  }),
  by.admin('testConnector', 200, { shows: ['answers', 'It answers'], path: { id: '{sandbox}' } }),
  by.alice('listConnectorTypes', 200, {
    shows: ['excerpt', 'One of them'],
    excerpt: { items: ['virustotal'] },
  }),
  by.alice('getConnectorHealth', 200, {
    shows: ['two', 'One that was checked, and one that is not enabled'],
  }),
  by.admin('deleteConnector', 200, {
    shows: ['deleted', 'It is deleted'],
    path: { id: '{falcon}' },
  }),
  by.admin('deleteConnector', 404, { path: { id: '{falcon}' }, code: 'not_found' }),
  by.admin('createNotificationChannel', 201, {
    shows: ['webhook', 'A service that takes webhooks, to be enabled later'],
    body: {
      name: 'soc',
      type: 'webhook',
      config: {
        url: 'https://hooks.example.com/incidents',
        secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=',
      },
      events: ['incident.created', 'action.pending_approval'],
      min_severity: 'high',
      enabled: false,
    },
    keeps: { channel: '/data/id' },
  }),
  by.admin('createNotificationChannel', 409, {
    body: {
      name: 'soc',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/incidents' },
      events: ['incident.created', 'action.pending_approval'],
      min_severity: 'high',
    },
    code: 'conflict',
  }),
  by.admin('listNotificationChannels', 200, {
    shows: ['by_name', 'In the order of their names'],
    query: { sort: 'name' },
  }),
  by.admin('listNotificationChannelTypes', 200, {
    shows: ['excerpt', 'One of them'],
    excerpt: { items: ['webhook'] },
  }),
  by.admin('getNotificationChannel', 200, {
    shows: ['webhook', 'A service that takes webhooks'],
    path: { id: '{channel}' },
  }),
  by.admin('updateNotificationChannel', 200, {
    shows: ['only_critical', 'Tell it of what is critical alone'],
    path: { id: '{channel}' },
    body: { min_severity: 'critical' },
  }),
  by.admin('deleteNotificationChannel', 200, {
    shows: ['deleted', 'Nobody is told over it any more'],
    path: { id: '{channel}' },
  }),
  by.admin('createWebhookSource', 201, {
    shows: ['siem', 'A tool that signs time and body'],
    body: {
      source: 'siem',
      secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
      severity_mapping: { urgent: 'critical' },
    },
  }),
  by.admin('createWebhookSource', 201, {
    shows: ['preset', 'A tool for which there is a preset'],
    body: { source: 'prometheus', secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd', preset: 'alertmanager' },
  }),
  by.admin('createWebhookSource', 409, {
    body: { source: 'siem', secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd' },
    code: 'conflict',
  }),
  by.admin('listWebhookSources', 200, {
    shows: ['by_name', 'The first by name'],
    query: { sort: 'source', per_page: '1' },
  }),
  by.admin('getWebhookSource', 200, {
    shows: ['siem', 'A tool that signs time and body'],
    path: { source: 'siem' },
  }),
  by.admin('createWebhookSource', 201, {
    body: { source: 'okta', secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd', preset: 'okta' },
  }),
  by.nobody('getWebhookSource', 200, {
    shows: ['okta_verification', 'Okta verifies the address of an event hook'],
    path: { source: 'okta' },
    headers: { 'x-okta-verification-challenge': 'Yd0iGk3CvZq7Wm2x' },
    media: 'application/json; profile="okta-verification"',
  }),
  by.admin('deleteWebhookSource', 200, { path: { source: 'okta' } }),
  by.admin('listWebhookPresets', 200, {
    shows: ['excerpt', 'One of them'],
    excerpt: { items: ['alertmanager'] },
  }),
  by.admin('previewWebhookEvent', 200, {
    shows: ['one_incident', 'It would make one incident'],
    path: { source: 'siem' },
    body: malwareAlert('alert-4711'),
  }),
];
