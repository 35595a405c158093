import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';

const AT_ONCE = 20;
/** Each fails, as dear as a step may be, and the run goes on. */
const ALL_WITH_ALL =
  'incident.raw_data.l.all(i, incident.raw_data.l.all(j, i != j || true)) && false';

describe('dry runs of the dearest steps', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterAll(() => world?.close());

  it('let other requests be answered in between, however many there are at once', async () => {
    const steps = Array.from({ length: 20 }, (_, n) =>
      step(`s${n}`, 'lookup_ip', { condition: ALL_WITH_ALL, on_error: 'continue' }),
    );
    const playbook = await world.playbook(steps);
    const l = Array.from({ length: 900 }, (_, n) => `${n}`.padEnd(200, 'x'));
    const incident_id = await world.incident({ raw_data: { l } });
    const dry = () => world.run(playbook, { incident_id, dry_run: true });
    await dry();

    let under = AT_ONCE;
    const runs = Promise.all(
      Array.from({ length: AT_ONCE }, () => dry().finally(() => (under -= 1))),
    );
    let answered = 0;
    while (under > 0) {
      expect((await world.actions.app.request('GET', '/live')).status).toBe(200);
      answered += 1;
    }
    expect((await runs).map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200));
    // Where nobody else has a turn these are a handful. By their number and not by time: a busy machine is slow with both.
    expect(answered).toBeGreaterThan(AT_ONCE);
  });
});
