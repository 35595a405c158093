import { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../src/auth/keys/key-format.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import {
  deliver,
  type Delivered,
  judgeInbox,
  registerStorm,
} from '../support/chaos/webhook-storm.js';
import { eventually } from '../support/jobs/eventually.js';
import { PrivateServer } from '../support/private-server.js';
import { ServiceProcess } from '../support/service-process.js';

const KILLS = FULL ? 20 : 2;
const SENDERS = 32;
/** Fewer than the senders, so that a worker settles some of the storm's receipts. */
const SYNC_LIMIT = 16;
/** Receipts before the storm are settled at once, because nothing of their source waits for a worker yet. */
const CALM = 8;

describe('webhooks while the service and its database are killed with SIGKILL', () => {
  let server: PrivateServer;
  let db: Pool;
  const { key } = createKey();

  beforeAll(async () => {
    // As in production: what was answered has to be on the disk.
    server = await PrivateServer.start({ fsync: 'on' });
    db = new Pool({ connectionString: server.url, max: 2 });
    db.on('error', () => undefined);
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await db?.end();
    await server?.remove();
  });

  const start = () =>
    ServiceProcess.start({
      settings: {
        DATABASE_URL: server.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        WEBHOOK_SYNC_LIMIT: String(SYNC_LIMIT),
      },
    });

  it(
    'has exactly one incident for each receipt that was answered, and none without its event',
    async () => {
      let service = await start();
      await registerStorm(service.url, key);
      const delivered: Delivered[] = [];
      const pauses: number[] = [];
      let over = false;
      let begun = 0;
      const send = async () =>
        delivered.push(await deliver(`alert-${(begun += 1)}`, () => service.url));
      for (let calm = 0; calm < CALM; calm += 1) await send();
      const senders = Array.from({ length: SENDERS }, async () => {
        while (!over) await send();
      });
      const underWay = async (): Promise<void> => {
        const before = delivered.length;
        await eventually(
          () => delivered.length,
          (size) => size > before + 4 * SENDERS,
        );
        await sleep(Math.random() * 1_000);
      };
      /** Until the first answer after it. */
      const strike = async (kill: () => Promise<unknown>): Promise<void> => {
        await underWay();
        const at = performance.now();
        await kill();
        const before = delivered.length;
        await eventually(
          () => delivered.length,
          (size) => size > before + SENDERS,
        );
        pauses.push(performance.now() - at);
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        await strike(async () => {
          await service.kill();
          service = await start();
        });
        await strike(async () => server.crash());
      }
      over = true;
      await Promise.all(senders);

      const { incidents, settledMs, wrong, broken } = await judgeInbox(db, delivered, 120_000);
      const count = (isCounted: (one: Delivered) => unknown) => delivered.filter(isCounted).length;
      const queued = count(({ answer }) => answer.status === 'queued');
      const again = count(({ inVain }) => inVain > 0);
      const known = count(({ answer }) => answer.duplicate);
      say(
        `${KILLS} kills of the service, ${KILLS} of the database: ${delivered.length} events, ${queued} of them queued, ${incidents} incidents`,
      );
      say(`  ${again} sent again, ${known} of those answered as a repetition`);
      say(`  from the kill until 32 more are answered: ${spread(pauses)}`);
      say(`  ${Math.round(settledMs)} ms after the last answer nothing waited any more`);
      expect(broken).toEqual([]);
      expect(Object.entries(wrong).filter(([, rows]) => rows > 0)).toEqual([]);
      expect(incidents).toBe(delivered.length);
      expect(queued).toBeGreaterThan(0);
      expect(delivered.length - queued).toBeGreaterThanOrEqual(CALM);
      const { body } = await ask(service.url, 'GET', '/api/incidents?per_page=1', { key });
      expect(body.meta.total).toBe(incidents);
    },
    FULL ? 900_000 : 180_000,
  );
});
