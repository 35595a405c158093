/*
 * Loaded into a service process before its own code (`--require`): on SIGUSR2 it writes one line that tells what the
 * longest turn of the event loop cost since the last one, in milliseconds of the main thread's processor time, which other
 * processes do not lengthen, and the most memory that was in use.
 */
const { setInterval } = require('node:timers');

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

let last = cpuMs();
let turnMs = 0;
let memoryMb = 0;

const look = () => {
  const now = cpuMs();
  turnMs = Math.max(turnMs, now - last);
  last = now;
  memoryMb = Math.max(memoryMb, process.memoryUsage.rss() / 2 ** 20);
};

setInterval(look, 2).unref();
process.on('SIGUSR2', () => {
  look();
  process.stdout.write(`LOOP ${JSON.stringify({ turnMs, memoryMb })}\n`);
  turnMs = 0;
  memoryMb = 0;
});
