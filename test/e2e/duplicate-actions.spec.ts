import { ActionWorld } from '../support/actions/action-world.js';
import type { Answer } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { useStarted } from '../support/use-started.js';

const AT_ONCE = 50;
let targets = 0;
const aHost = () => ({ host_id: `ws-${(targets += 1)}` });
const aSender = () => ({ sender: `mallory-${(targets += 1)}@evil.example` });

const codeOf = ({ status, body }: Answer) => [status, body.error?.code];
const idOf = ({ body }: Answer): string => body.data.action_id;

describe('an action that was requested before', () => {
  const world = useStarted(() => ActionWorld.start({ ACTION_REPEAT_MINUTES: '60' }, 2));

  afterEach(() => {
    world.vendor.forget();
    world.vendor.plan = undefined;
  });

  const approve = (id: string) => world.clients.senior.post(`/api/actions/${id}/approve`, {});
  /** Sets a time although triggers of the table protect it. */
  const setTime = async (id: string, change: string, values: unknown[] = []) => {
    await world.database.query('alter table actions disable trigger user');
    const at = [id.replace('act-', ''), ...values];
    await world.database.query(`update actions set ${change} where id = $1`, at);
    await world.database.query('alter table actions enable trigger user');
  };
  const completedAgo = (id: string, minutes: number) =>
    setTime(id, `executed_at = now() - $2 * interval '1 minute'`, [minutes]);

  it('is rejected with the id, status, requester and time of the waiting action', async () => {
    const incidentId = await world.incident();
    const parameters = { host_id: 'WS-0142', reason: 'Ransomware.' };
    const first = await world.execute('isolate_host', { incidentId, parameters });
    const { requested_at } = (await world.get(idOf(first))) as { requested_at?: string };
    const again = { host_id: 'ws-0142', reason: 'The same, said by another.' };
    for (const place of [incidentId, await world.incident(), undefined]) {
      const answer = await world.execute('isolate_host', {
        incidentId: place,
        parameters: again,
        client: world.clients.senior,
      });
      expect(codeOf(answer)).toEqual([409, 'duplicate_action']);
      expect(answer.body.error.details).toEqual({
        action_id: idOf(first),
        status: 'pending_approval',
        requested_by: world.names.analyst,
        requested_at,
      });
    }
    const repeated = await world.execute('isolate_host', { parameters: again, repeat: true });
    expect(repeated.status).toBe(202);
  });

  it('is a different action if another sender used the same Message-ID', async () => {
    const parameters = { message_id: `<m${(targets += 1)}@evil.example>` };
    const mailOf = (sender: string) => world.incident({ raw_data: { ...parameters, sender } });
    const quarantine = (incidentId?: string) =>
      world.execute('quarantine_email', { incidentId, parameters });
    const [one, two] = [await mailOf('one@evil.example'), await mailOf('two@evil.example')];
    expect((await quarantine(one)).body.data?.status).toBe('completed');
    expect((await quarantine(two)).body.data?.status).toBe('completed');
    expect((await quarantine()).body.data?.status).toBe('completed');
    for (const again of [two, await mailOf('Two <TWO@evil.example>'), undefined]) {
      expect(codeOf(await quarantine(again))).toEqual([409, 'duplicate_action']);
    }
    expect(world.calls).toHaveLength(3);
    // A release without a sender undoes the quarantines of the mails of both senders.
    const release = await world.execute('release_email', { parameters });
    await approve(idOf(release));
    expect((await quarantine(one)).body.data?.status).toBe('completed');
    expect((await quarantine(two)).body.data?.status).toBe('completed');
  });

  it('is rejected after its completion until ACTION_REPEAT_MINUTES have passed', async () => {
    const parameters = aSender();
    const first = idOf(await world.execute('block_sender', { parameters }));
    const refused = await world.execute('block_sender', { parameters });
    expect(codeOf(refused)).toEqual([409, 'duplicate_action']);
    expect(refused.body.error.details).toMatchObject({ action_id: first, status: 'completed' });
    expect(refused.body.error.details.executed_at).toEqual(expect.any(String));
    await completedAgo(first, 59);
    expect((await world.execute('block_sender', { parameters })).status).toBe(409);
    await completedAgo(first, 61);
    expect((await world.execute('block_sender', { parameters })).status).toBe(200);
  });

  it('may be requested again if it failed, was rejected or was rolled back', async () => {
    const failed = aSender();
    world.vendor.plan = () => ({ behaviour: 'refuse', afterMs: 0 });
    const failure = await world.execute('block_sender', { parameters: failed });
    expect(failure.body.data.status).toBe('failed');
    world.vendor.plan = undefined;
    expect((await world.execute('block_sender', { parameters: failed })).status).toBe(200);

    const rejected = aHost();
    const waiting = idOf(await world.execute('isolate_host', { parameters: rejected }));
    await world.clients.senior.post(`/api/actions/${waiting}/reject`, { reason: 'No need.' });
    expect((await world.execute('isolate_host', { parameters: rejected })).status).toBe(202);

    const undone = aSender();
    const original = idOf(await world.execute('block_sender', { parameters: undone }));
    const rollBack = (id: string) =>
      world.clients.senior.post(`/api/actions/${id}/rollback`, { reason: 'A false alarm.' });
    expect((await rollBack(original)).body.data.status).toBe('completed');
    const second = await world.execute('block_sender', { parameters: undone });
    expect(second.status).toBe(200);
    // The second rollback does not repeat the first one, because it rolls back another action.
    expect((await rollBack(idOf(second))).body.data.status).toBe('completed');
  });

  const sandboxInstead = async (): Promise<void> => {
    const { admin } = world.clients;
    for (const { id } of (await admin.get('/api/connectors')).body.data) {
      await admin.delete(`/api/connectors/${id}`);
    }
    const body = { name: 'sandbox', type: 'sandbox', config: {} };
    expect((await admin.post('/api/connectors', body)).status).toBe(201);
  };

  it('may be requested again if it was simulated and a real connector exists now', async () => {
    await sandboxInstead();
    const parameters = aSender();
    const simulated = await world.execute('block_sender', { parameters });
    expect(simulated.body.data).toMatchObject({ status: 'completed', result: { simulated: true } });
    expect((await world.execute('block_sender', { parameters })).status).toBe(409);
    await world.connect();
    const real = await world.execute('block_sender', { parameters });
    expect(real.body.data.status).toBe('completed');
    expect(world.calls.map(({ path }) => path)).toEqual(['/block_sender']);
    expect((await world.execute('block_sender', { parameters })).status).toBe(409);
  });

  it('may be requested again for a longer duration, and after its duration has ended', async () => {
    const address = { ip: `198.51.100.${(targets += 1)}` };
    const block = async (duration_minutes?: number) => {
      const parameters = { ...address, ...(duration_minutes && { duration_minutes }) };
      const answer = await world.execute('block_ip', { parameters });
      if (answer.status === 202) await approve(idOf(answer));
      return answer;
    };
    const minute = await block(1);
    expect((await block(1)).status).toBe(409);
    const hour = await block(60);
    expect(hour.status).toBe(202);
    expect((await block(30)).status).toBe(409);
    await completedAgo(idOf(hour), 59);
    await completedAgo(idOf(minute), 59);
    expect((await block(60)).body.error.details.action_id).toBe(idOf(hour));
    expect((await block(2_147_483_647)).status).toBe(202);
    expect((await block()).status).toBe(202);
    expect((await block(2_147_483_647)).status).toBe(409);
  });

  it('may be requested again if its approval expired', async () => {
    const parameters = aHost();
    const id = idOf(await world.execute('isolate_host', { parameters }));
    await setTime(id, `requested_at = now() - interval '2 days'`);
    expect((await world.execute('isolate_host', { parameters })).status).toBe(202);
  });

  it('is created once by 50 equal requests on two replicas, and again if a request explicitly asks for a repetition', async () => {
    const other = (await makeKey(world.replicas[1]!, 'analyst')).client;
    const incidents = [await world.incident(), await world.incident(), undefined];
    for (const type of ['block_sender', 'isolate_host'] as const) {
      const parameters = type === 'block_sender' ? aSender() : aHost();
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) =>
          world.execute(type, {
            parameters,
            incidentId: incidents[at % 3],
            client: at % 2 ? other : world.clients.analyst,
            // A request with an Idempotency-Key has its own transaction. All other requests share transactions.
            headers: at % 5 ? {} : { 'idempotency-key': `${type}-${at}` },
          }),
        ),
      );
      const good = answers.filter(({ status }) => status < 300);
      expect(good).toHaveLength(1);
      for (const answer of answers.filter((one) => !good.includes(one))) {
        expect(codeOf(answer)).toEqual([409, 'duplicate_action']);
        expect(answer.body.error.details.action_id).toBe(idOf(good[0]!));
      }
      const repeats = await Promise.all(
        Array.from({ length: 5 }, () => world.execute(type, { parameters, repeat: true })),
      );
      expect(repeats.filter(({ status }) => status < 300)).toHaveLength(5);
    }
  });

  it('causes no deadlock with requests for other targets in another order', async () => {
    const senders = Array.from({ length: 20 }, aSender);
    const other = (await makeKey(world.replicas[1]!, 'analyst')).client;
    const round = (client = world.clients.analyst, order = senders) =>
      order.map((parameters) => world.execute('block_sender', { parameters, client }));
    const answers = await Promise.all([...round(), ...round(other, senders.toReversed())]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20);
  });

  it('returns the first response to a repeated Idempotency-Key', async () => {
    const parameters = aSender();
    const headers = { 'idempotency-key': 'asked-twice' };
    const first = await world.execute('block_sender', { parameters, headers });
    const again = await world.execute('block_sender', { parameters, headers });
    expect(again.status).toBe(200);
    expect(idOf(again)).toBe(idOf(first));
    expect(again.headers['idempotency-replayed']).toBe('true');
  });
});
