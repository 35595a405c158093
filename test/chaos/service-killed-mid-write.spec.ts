import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../src/auth/credentials.js';
import { ask } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';

const KILLS = FULL ? 20 : 2;
const WRITERS = 32;

/** Returns the processes whose command line contains the folder. */
function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return command.includes(folder) ? [`${pid} ${command}`] : [];
      } catch {
        // The process has ended in the meantime.
        return [];
      }
    });
}

describe('the service with the embedded database, killed with SIGKILL in the middle of writes', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'its-chaos-data-'));
  const { key } = createKey();
  const settings = { BOOTSTRAP_ADMIN_API_KEY: key };

  afterAll(async () => {
    await ServiceProcess.endAll();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  /** Creates incidents until the service is gone. Records the incidents that the service acknowledged. */
  const write = async (
    url: string,
    acknowledged: Map<string, string>,
    tried: { count: number },
  ): Promise<void> => {
    for (;;) {
      tried.count += 1;
      const title = `chaos ${tried.count}`;
      const body = { incident_type: 'phishing', source: 'chaos', raw_data: { title } };
      const answer = await ask(url, 'POST', '/api/incidents', { key, body }).catch(() => undefined);
      // The service, and possibly its database, is gone.
      if (!answer || answer.status >= 500) return;
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      acknowledged.set(answer.body.data.id as string, title);
    }
  };

  it(
    'keeps each acknowledged write and correct totals after kills',
    async () => {
      const acknowledged = new Map<string, string>();
      const tried = { count: 0 };
      let service = await ServiceProcess.start({ dataDir, settings });
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = acknowledged.size;
        const writers = Array.from({ length: WRITERS }, () =>
          write(service.url, acknowledged, tried),
        );
        await eventually(() => acknowledged.size > before + WRITERS);
        await sleep(Math.random() * 1_000);
        await service.kill();
        await Promise.all(writers);
        service = await ServiceProcess.start({ dataDir, settings });
        const ids = [...acknowledged].slice(before);
        const lost: string[] = [];
        for (const [id, title] of ids) {
          const { status, body } = await ask(service.url, 'GET', `/api/incidents/${id}`, { key });
          if (status !== 200 || body.data.raw_data.title !== title) lost.push(id);
        }
        expect(lost).toEqual([]);
      }
      const totalOf = async (query: string): Promise<number> => {
        const path = `/api/incidents?per_page=1${query}`;
        return (await ask(service.url, 'GET', path, { key })).body.meta.total;
      };
      const total = await totalOf('');
      // A filter by time counts the rows themselves, so a difference shows that the stored counts are wrong.
      expect(total).toBe(await totalOf('&created_after=2020-01-01T00:00:00Z'));
      expect(total).toBeGreaterThanOrEqual(acknowledged.size);
      expect(total).toBeLessThanOrEqual(tried.count);
      await service.kill();
      await eventually(() => processesOf(dataDir).length === 0);
      say(
        `${KILLS} kills: ${acknowledged.size} writes acknowledged of ${tried.count}, ${total} there, none lost`,
      );
      // If the service runs as root, the command line of PostgreSQL does not contain the folder.
      await eventually(() => !existsSync(join(dataDir, 'postgres', 'postmaster.pid')));
    },
    FULL ? 600_000 : 90_000,
  );
});
