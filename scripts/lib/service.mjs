import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../start.mjs', import.meta.url));
const PATIENCE_MS = 90_000;

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the service like `npm start`, with its own database and admin key. Resolves when the service is ready. */
export async function startService(settings = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'its-run-'));
  const port = settings.PORT ?? String(await freePort());
  const key = `its_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`;
  const child = spawn(process.execPath, [START], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      DATA_DIR: dataDir,
      BOOTSTRAP_ADMIN_API_KEY: key,
      ...settings,
      PORT: port,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (log = (log + chunk).slice(-20_000)));
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    const code = await ended;
    rmSync(dataDir, { recursive: true, force: true });
    return code;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(url, child);
  } catch (error) {
    await stop();
    throw new Error(`${error.message}\n${log}`, { cause: error });
  }
  return { url, port, key, dataDir, stop, log: () => log };
}

async function untilReady(url, child) {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
    if (child.exitCode !== null) throw new Error('The service ended instead of getting ready.');
    const answer = await fetch(`${url}/ready`).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`The service was not ready within ${PATIENCE_MS / 1000} s.`);
}
