import type { TriageTool } from '../../src/triage/model/triage-model.port.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { type Judge, judgement, script, TriageWorld } from '../support/triage/triage-world.js';

const IP = '203.0.113.9';
const never = new AbortController().signal;

describe('the tools of a triage run', () => {
  let world: TriageWorld;
  let vendor: FakeVendor;

  beforeAll(async () => {
    vendor = await FakeVendor.start();
    world = await TriageWorld.start({
      ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      PROTECTED_TARGETS: '{"ips": ["198.51.100.*"]}',
    });
    const answer = await world.clients.admin.request('POST', '/api/connectors', {
      body: {
        name: 'intelligence',
        type: 'http',
        config: {
          base_url: vendor.url,
          actions: { lookup_ip: { path: '/lookup', body: { ip: '{{ parameters.ip }}' } } },
        },
      },
    });
    if (answer.status !== 201) throw new Error(answer.text);
  });
  afterEach(() => vendor.forget());
  afterAll(async () => {
    await world?.close();
    await vendor?.stop();
  });

  const lookups = () => vendor.requests.filter(({ path }) => path === '/lookup');

  /** Runs a triage in which the tools are asked as `work` does. */
  const asking = async (
    id: string,
    work: (tools: ReadonlyMap<string, TriageTool>, given: Parameters<Judge>[0]) => Promise<void>,
  ) => {
    let failure: unknown;
    script(world.app, async (given, { tools }) => {
      await work(new Map(tools.map((tool) => [tool.name, tool])), given).catch((error: unknown) => {
        failure = error;
      });
      return judgement();
    });
    await world.triage(id, { body: { force: true } });
    if (failure) throw failure as Error;
  };

  it('look up what code extracted, at the connector that provides it', async () => {
    const id = await world.incident({ raw_data: { src: IP, note: 'x' } });
    await asking(id, async (tools) => {
      const answer = await tools.get('look_up')!.ask({ indicator_id: 'i1' }, never);
      expect(answer).toMatchObject({ connector: 'intelligence', answered: true });
    });
    expect(lookups()).toHaveLength(1);
    expect(JSON.stringify(lookups()[0])).toContain(IP);
  });

  it('let nothing out that the model wrote', async () => {
    const id = await world.incident({ raw_data: { src: IP } });
    await asking(id, async (tools) => {
      const lookUp = tools.get('look_up')!;
      for (const input of [
        { indicator_id: '192.0.2.77' },
        { indicator_id: 'i1', ip: '192.0.2.77' },
        { ip: '192.0.2.77' },
        { indicator_id: 'i2' },
        {},
      ]) {
        await expect(lookUp.ask(input, never)).rejects.toThrow('with the id of an indicator');
      }
    });
    expect(lookups()).toEqual([]);
  });

  it('look up no target that this site protects', async () => {
    const id = await world.incident({ raw_data: { src: '198.51.100.7' } });
    await asking(id, async (tools) => {
      const asked = tools.get('look_up')!.ask({ indicator_id: 'i1' }, never);
      await expect(asked).rejects.toThrow('Looking it up needs the approval of a manager.');
    });
    expect(lookups()).toEqual([]);
  });

  it('look nothing up once the kill switch is on', async () => {
    const id = await world.incident({ raw_data: { src: IP } });
    let turnedOn: number | undefined;
    script(world.app, async (_, { tools }) => {
      turnedOn = (await world.turnOn()).status;
      await tools.find(({ name }) => name === 'look_up')!.ask({ indicator_id: 'i1' }, never);
      return judgement();
    });
    const { status, body } = await world.triage(id);
    await world.turnOff();
    expect({ turnedOn, lookups: lookups() }).toEqual({ turnedOn: 200, lookups: [] });
    // Where the database was too slow for the permit, the run waits; in no case is there a verdict.
    expect([202, 409]).toContain(status);
    expect(body.data?.verdict).toBeUndefined();
  });

  it('offer no look-up where no connector provides one for what was found', async () => {
    const id = await world.incident({ raw_data: { host: 'laptop-7' } });
    await asking(id, async (tools) => {
      expect([...tools.keys()]).toEqual(['related_incidents', 'mail_authentication']);
    });
  });

  it('offer no look-up where a sandbox alone would make its answers up', async () => {
    const bare = await TriageWorld.start();
    try {
      const body = { name: 'pretends', type: 'sandbox', config: {} };
      const made = await bare.clients.admin.request('POST', '/api/connectors', { body });
      expect(made.status).toBe(201);
      const names: string[] = [];
      script(bare.app, async (_, { tools }) => {
        names.push(...tools.map(({ name }) => name));
        return judgement();
      });
      await bare.triage(await bare.incident({ raw_data: { src: IP } }));
      expect(names).toEqual(['related_incidents', 'mail_authentication']);
    } finally {
      await bare.close();
    }
  });

  it('find other incidents with the same indicator that a run has seen, the newest first', async () => {
    const rawData = { user: 'mallory', host: 'laptop-8' };
    const [older, newer, deleted, stranger] = [
      await world.incident({ raw_data: rawData, title: 'The older one' }),
      await world.incident({ raw_data: { user: 'mallory' }, title: 'The newer one' }),
      await world.incident({ raw_data: rawData }),
      await world.incident({ raw_data: { user: 'alice' } }),
    ];
    script(world.app, async () => judgement());
    for (const one of [older, newer, deleted, stranger]) await world.triage(one);
    await world.clients.admin.request('DELETE', `/api/incidents/${deleted}`);
    await world.update(older, { verdict: { classification: 'benign' } });
    const id = await world.incident({ raw_data: rawData });
    await asking(id, async (tools, given) => {
      const user = given.indicators.find(({ type }) => type === 'user')!;
      const answer = await tools.get('related_incidents')!.ask({ indicator_id: user.id }, never);
      expect(answer).toEqual({
        incidents: [
          expect.objectContaining({ title: 'The newer one', decided_by_person: false }),
          expect.objectContaining({
            title: 'The older one',
            classification: 'benign',
            decided_by_person: true,
          }),
        ],
      });
      const host = given.indicators.find(({ type }) => type === 'host')!;
      expect(await tools.get('related_incidents')!.ask({ indicator_id: host.id }, never)).toEqual({
        incidents: [expect.objectContaining({ title: 'The older one' })],
      });
    });
  });

  it('tell what the gateway said of a mail, and take no input for it', async () => {
    await asking(await world.incident(), async (tools) => {
      const tool = tools.get('mail_authentication')!;
      expect(await tool.ask({}, never)).toEqual(expect.any(Object));
      await expect(tool.ask({ header: 'x' }, never)).rejects.toThrow('takes no input');
    });
  });

  it('answer six questions in a run, and no more', async () => {
    await asking(await world.incident(), async (tools) => {
      const tool = tools.get('mail_authentication')!;
      for (let n = 0; n < 6; n += 1) await tool.ask({}, never);
      await expect(tool.ask({}, never)).rejects.toThrow('No more questions');
    });
  });
});
