import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FakeVendor } from '../support/fake-vendor.js';
import { ServiceProcess } from '../support/service-process.js';

const ADMIN_KEY = `its_firstKey_${'k'.repeat(43)}`;

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: [{ readonly env: { name: string; value: string }[] }] };
    };
  };
}

/** As the manifests set it. */
function nodeOptions(): string {
  const deployment = parse(readFileSync('docker/kubernetes/deployment.yaml', 'utf8')) as Deployment;
  const [{ env }] = deployment.spec.template.spec.containers;
  return env.find(({ name }) => name === 'NODE_OPTIONS')!.value;
}

describe('A process with the memory limit of the manifests', () => {
  let vendor: FakeVendor;
  let service: ServiceProcess;

  beforeAll(async () => {
    vendor = await FakeVendor.start();
    service = await ServiceProcess.start({
      settings: {
        NODE_OPTIONS: nodeOptions(),
        BOOTSTRAP_ADMIN_API_KEY: ADMIN_KEY,
        // A slow machine may take its time: what is held here is memory.
        ACTION_WAIT_MS: '60000',
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      },
    });
  });

  afterAll(async () => {
    await ServiceProcess.endAll();
    await vendor?.stop();
  });

  it('survives look-ups whose answers arrive byte by byte', async () => {
    const admin = service.client.with({ authorization: `Bearer ${ADMIN_KEY}` });
    const actions = { lookup_ip: { path: '/{{ parameters.ip }}' } };
    const body = { name: 'byte', type: 'http', config: { base_url: vendor.url, actions } };
    expect((await admin.request('POST', '/api/connectors', { body })).status).toBe(201);
    vendor.behave('byte-by-byte');
    const lookUp = (_: unknown, index: number) =>
      admin.request('POST', '/api/actions/execute', {
        body: { action: 'lookup_ip', parameters: { ip: `203.0.113.${index}` } },
      });
    const answers = await Promise.all(Array.from({ length: 3 }, lookUp));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // On a busy machine the whole answer may come too late; the process must not end either way.
    for (const { body: answered } of answers) {
      expect(['completed', 'failed']).toContain(answered.data.status);
    }
    expect((await service.client.request('GET', '/live')).status).toBe(200);
  });
});
