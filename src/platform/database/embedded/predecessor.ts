import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isAlive, postmasterFile, readPostmasterFile, servesCluster } from './postmaster-file.js';

const FAST_SHUTDOWN_MS = 20_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 10;

/**
 * Ends the server that a killed application left running. The caller holds the lock of the data directory, so no living
 * application uses that server, and its orphan guard is most likely stopping it already.
 */
export async function stopPredecessor(cluster: string, log: (line: string) => void): Promise<void> {
  const left = await readPostmasterFile(cluster);
  if (!left) return;
  if (!(await servesCluster(left.pid, cluster))) {
    // postgres copes with the file of a dead server, but not with one whose id now belongs to another program.
    if (isAlive(left.pid)) await rm(postmasterFile(cluster), { force: true });
    return;
  }
  log(`stopping the PostgreSQL server (pid ${left.pid}) that an ended instance left running`);
  if (await endsAfter('SIGINT', left.pid, cluster, FAST_SHUTDOWN_MS)) return;
  if (await endsAfter('SIGQUIT', left.pid, cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresError(
    `The PostgreSQL server with pid ${left.pid}, left running by an ended instance, does not stop: end it by hand.`,
  );
}

async function endsAfter(
  signal: NodeJS.Signals,
  pid: number,
  cluster: string,
  patienceMs: number,
): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch {
    return !(await servesCluster(pid, cluster));
  }
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    if (!(await servesCluster(pid, cluster))) return true;
    await sleep(POLL_MS);
  }
  return false;
}
