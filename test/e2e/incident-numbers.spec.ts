import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';

interface Shown {
  readonly id: string;
  readonly incident_number: string;
}

describe('the number of an incident', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ TRIAGE_PROVIDER: 'rules' });
  });
  afterAll(() => world?.close());

  const create = async (): Promise<Shown> => {
    const id = await world.incident();
    const { body } = await world.clients.viewer.request('GET', `/api/incidents/${id}`);
    return body.data as Shown;
  };
  const ask = (method: string, path: string, body?: object) =>
    world.clients.admin.request(method, path, { body });

  it('is accepted in paths instead of the id', async () => {
    const { id, incident_number: number } = await create();
    const at = `/api/incidents/${number}`;
    const put = await ask('PUT', at, { severity: 'high' });
    expect([put.status, put.body.data.id]).toEqual([200, id]);
    const action = await ask('POST', `${at}/actions`, {
      action: 'lookup_ip',
      parameters: { ip: '203.0.113.9' },
    });
    expect(action.status).toBe(200);
    const triage = await ask('POST', `${at}/triage`, {});
    expect(triage.body.data).toMatchObject({ incident_id: id });
    for (const part of ['', '/timeline', '/reports', '/actions', '/triage']) {
      const [byNumber, byId] = [
        await ask('GET', at + part),
        await ask('GET', `/api/incidents/${id}${part}`),
      ];
      expect([part, byNumber.status, byNumber.body]).toEqual([part, 200, byId.body]);
    }
    const run = await ask('GET', `${at}/triage/${triage.body.data.triage_id}`);
    expect(run.body.data).toMatchObject({ incident_id: id });
    expect((await ask('DELETE', at)).status).toBe(200);
    expect((await ask('GET', at)).status).toBe(404);
    expect((await ask('GET', `/api/incidents/${id}`)).status).toBe(404);
  });

  it('is accepted by filters and playbook runs', async () => {
    const { id, incident_number: number } = await create();
    const playbook = await world.playbook([step('look', 'lookup_ip')]);
    const dry = await world.run(playbook, { incident_id: number, dry_run: true });
    expect(dry.body.data).toMatchObject({ incident_id: id });
    const { run_id } = (await world.run(playbook, { incident_id: number })).body.data;
    await world.until(playbook, run_id, 'completed');
    for (const list of ['actions', 'playbook-runs', `playbooks/${playbook}/runs`]) {
      const { body } = await ask('GET', `/api/${list}?incident_id=${number}`);
      expect(body.meta.total).toBe(1);
      expect(body.data[0]).toMatchObject({ incident_id: id });
    }
  });

  it('is not found if it is not an integer or unknown', async () => {
    const { incident_number: number } = await create();
    const [, year, sequence] = number.split('-') as [string, string, string];
    const wrong = [
      `INC-${Number(year) - 1}-${sequence}`,
      `INC-${year}-0${sequence}`,
      `INC-${year}-9999999`,
      number.toLowerCase(),
    ];
    for (const reference of wrong) {
      expect([reference, (await ask('GET', `/api/incidents/${reference}`)).status]).toEqual([
        reference,
        404,
      ]);
    }
    for (const reference of wrong.slice(0, -1)) {
      const { body } = await ask('GET', `/api/actions?incident_id=${reference}`);
      expect(body.meta.total).toBe(0);
      const run = await world.run(await world.playbook([step('look', 'lookup_ip')]), {
        incident_id: reference,
      });
      expect(run.status).toBe(404);
    }
    const unreadable = await ask('GET', '/api/actions?incident_id=42');
    expect(unreadable.body.error.details.errors).toEqual([
      {
        field: 'incident_id',
        code: 'matches',
        message: 'incident_id must be the id or the number of an incident.',
      },
    ]);
  });
});
