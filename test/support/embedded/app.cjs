/*
 * Stands for the application: starts the server and reports it on stdout, reports SIGINT, and stops on SIGTERM.
 *
 * Usage: node app.cjs <data directory> [user id] [group id]
 */
const { setInterval } = require('node:timers');
const { startEmbeddedPostgres } = require('./embedded-postgres.js');

const [dataDir, uid, gid] = process.argv.slice(2);
const say = (event, details = {}) =>
  process.stdout.write(`${JSON.stringify({ event, ...details })}\n`);

async function main() {
  if (uid && process.getuid() !== Number(uid)) {
    process.setgroups([]);
    process.setgid(Number(gid));
    process.setuid(Number(uid));
  }
  const log = (line) => say('log', { line });
  const server = await startEmbeddedPostgres({ dataDir, log, parameters: { fsync: 'off' } });
  say('started', { url: server.url, pid: server.pid });
  process.on('SIGINT', () => say('interrupted'));
  process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)));
  setInterval(() => undefined, 1_000);
}

main().catch(({ message }) => {
  say('failed', { message });
  process.exitCode = 1;
});
