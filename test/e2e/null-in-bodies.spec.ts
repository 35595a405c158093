import { readFileSync } from 'node:fs';
import type { ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Schema {
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
}

const { schemas } = (
  JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as {
    components: { schemas: Readonly<Record<string, Schema>> };
  }
).components;

/** Every field of the schema that may be left out, as null. */
const nulls = (schema: string): object => {
  const { properties, required = [] } = schemas[schema]!;
  const fields = Object.keys(properties).filter((field) => !required.includes(field));
  return Object.fromEntries(fields.map((field) => [field, null]));
};

const EVIDENCE = { source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' };

/** What is created with something in each list and each object, and a change of one field. */
const RESOURCES = [
  {
    update: 'IncidentUpdate',
    path: '/api/incidents',
    body: { incident_type: 'phishing', source: 'gateway', title: 'Invoice fraud' },
    before: { recommended_actions: ['block_sender'], severity: 'high' },
    change: { title: 'CEO fraud' },
  },
  {
    update: 'PlaybookUpdate',
    path: '/api/playbooks',
    body: {
      name: 'null-in-bodies',
      triggers: { incident_types: ['phishing'] },
      variables: { channel: '#soc' },
      steps: [{ name: 'ticket', action: 'create_ticket', parameters: { title: 'Look' } }],
    },
    change: { description: 'For what people report.' },
  },
  {
    update: 'ConnectorUpdate',
    path: '/api/connectors',
    body: { name: 'Sandbox of a team', type: 'sandbox', config: { latency_ms: 1 } },
    change: { priority: 7 },
  },
  {
    update: 'NotificationChannelUpdate',
    path: '/api/notification-channels',
    body: {
      name: 'Null in bodies',
      type: 'slack',
      config: { webhook_url: 'https://hooks.slack.com/services/T1/B2/c3' },
      events: ['incident.created'],
    },
    change: { min_severity: 'high' },
  },
  {
    update: 'UserUpdate',
    path: '/api/users',
    body: { username: 'null.updates', password: 'orchid-Kayak7-lantern', role: 'viewer' },
    change: { role: 'analyst' },
  },
  {
    update: 'WebhookSourceUpdate',
    path: '/api/webhooks',
    key: 'source',
    body: {
      source: 'null-in-bodies',
      secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
      severity_mapping: { urgent: 'critical' },
      type_mapping: { mail: 'phishing' },
    },
    change: { auto_triage: true },
  },
];

describe('null in a body', () => {
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    ({ client: admin } = await makeKey(app, 'admin'));
  });
  afterAll(() => app.close());

  const put = (path: string, body: object) => admin.request('PUT', path, { body });
  const read = async (path: string) => (await admin.request('GET', path)).body.data;

  const created = async ({ path, key = 'id', body, before }: (typeof RESOURCES)[number]) => {
    const made = await admin.request('POST', path, { body });
    expect(made.status).toBe(201);
    const address = `${path}/${made.body.data[key]}`;
    if (before) expect((await put(address, before)).status).toBe(200);
    return address;
  };

  describe.each(RESOURCES)('$update', (resource) => {
    const { update, change } = resource;

    it('leaves every field that is null as it is, and changes the others', async () => {
      const address = await created(resource);
      const before = await read(address);
      expect((await put(address, { ...nulls(update), ...change })).status).toBe(200);
      const after = await read(address);
      const isMeant = (field: string) => !['updated_at', 'version'].includes(field);
      const fields = Object.keys({ ...before, ...after }).filter(isMeant);
      const expected = { ...before, ...change };
      for (const field of fields) expect([field, after[field]]).toEqual([field, expected[field]]);
    });

    it('refuses a body of nulls alone like an empty one', async () => {
      const [address] = (await read(resource.path)).map(
        (one: Record<string, string>) => `${resource.path}/${one[resource.key ?? 'id']}`,
      );
      const { status, body } = await put(address, nulls(update));
      expect([status, body.error.details.errors[0].code]).toEqual([422, 'not_empty']);
    });

    it('is documented for each field that may be left out', () => {
      const { properties } = schemas[update]!;
      const silent = Object.keys(nulls(update)).filter((field) => {
        const { nullable, 'x-nullable': nullableReference } = properties[field]!;
        return !(nullable ?? nullableReference);
      });
      expect(silent).toEqual([]);
    });
  });

  it('keeps the evidence of a verdict whose lists are null', async () => {
    const body = {
      incident_type: 'phishing',
      source: 'gateway',
      raw_data: { sender: 'ceo@examp1e.com' },
    };
    const made = await admin.request('POST', '/api/incidents', { body });
    const address = `/api/incidents/${made.body.data.id}`;
    const verdict = {
      classification: 'malicious',
      evidence: [EVIDENCE],
      mitre_techniques: ['T1566'],
    };
    expect((await put(address, { verdict })).status).toBe(200);
    const again = { ...nulls('GivenVerdict'), classification: 'suspicious' };
    const { status, body: answer } = await put(address, { verdict: again });
    expect(status).toBe(200);
    expect(answer.data.verdict).toMatchObject({ ...verdict, classification: 'suspicious' });
  });

  it('leaves a new source the words of its preset, and a new channel the events of its type', async () => {
    const events = async (more: object) => {
      const config = { webhook_url: 'https://hooks.slack.com/services/T1/B2/c3' };
      const body = { name: `Channel ${Object.keys(more).length}`, type: 'slack', config, ...more };
      const made = await admin.request('POST', '/api/notification-channels', { body });
      expect(made.status).toBe(201);
      return made.body.data.events;
    };
    expect(await events({ events: null, min_severity: null })).toEqual(await events({}));

    const words = async (source: string, more: object) => {
      const body = { source, secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd', preset: 'wazuh', ...more };
      const made = await admin.request('POST', '/api/webhooks', { body });
      expect(made.status).toBe(201);
      return made.body.data.severity_mapping;
    };
    const named = await words('preset', {});
    expect(Object.keys(named)).not.toEqual([]);
    const unset = { severity_mapping: null, type_mapping: null, enabled: null };
    expect(await words('preset-with-nulls', unset)).toEqual(named);
  });

  it('does not stand in for a field that has to be given', async () => {
    const made = await admin.request('POST', '/api/incidents', { body: RESOURCES[0]!.body });
    const address = `/api/incidents/${made.body.data.id}`;
    const { status, body } = await put(address, { verdict: { classification: null } });
    expect([status, body.error.details.errors]).toMatchObject([
      422,
      [{ field: 'verdict.classification', code: 'required' }],
    ]);
  });
});
