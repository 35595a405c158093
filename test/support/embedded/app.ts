import { startEmbeddedPostgres } from '../../../src/platform/database/embedded/embedded-postgres.js';

/** Stands for the application: starts the server, says so on stdout, drains for a while on SIGINT, stops on SIGTERM. */
async function main([dataDir, uid, gid, parameters]: string[]): Promise<void> {
  if (uid && process.getuid?.() !== Number(uid)) {
    process.setgroups?.([]);
    process.setgid?.(Number(gid));
    process.setuid?.(Number(uid));
  }
  const say = (event: string, details: object = {}) =>
    process.stdout.write(`${JSON.stringify({ event, ...details })}\n`);
  try {
    const begin = performance.now();
    const server = await startEmbeddedPostgres({
      dataDir: dataDir!,
      log: (line) => say('log', { line }),
      parameters: parameters ? (JSON.parse(parameters) as Record<string, string>) : {},
    });
    say('started', { url: server.url, pid: server.pid, ms: Math.round(performance.now() - begin) });
    process.on('SIGINT', () => say('interrupted'));
    process.on('SIGTERM', () => {
      const begin = performance.now();
      void server.stop().then(() => {
        say('stopped', { ms: Math.round(performance.now() - begin) });
        process.exit(0);
      });
    });
    setInterval(() => undefined, 1_000);
  } catch (error) {
    const { name, message } = error as Error;
    say('failed', { name, message });
    process.exitCode = 1;
  }
}

void main(process.argv.slice(2));
