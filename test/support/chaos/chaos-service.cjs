/*
 * Runs the compiled service, which a test can kill, stop or delay at a failpoint. Production has no such setting.
 *
 * Usage: node chaos-service.cjs <main.js of the compiled service>
 */
const { dirname, join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const main = process.argv[2];
const compiled = (path) => require(join(dirname(main), path));

/** CLOCK_MONOTONIC, which all processes of a machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const tell = (report) => process.connected && process.send(report);

let dieAt = 0;
let stopAt = 0;
let delays = {};
process.on('message', (order) => {
  if (order.dieAt !== undefined) dieAt = order.dieAt;
  if (order.stopAt !== undefined) stopAt = order.stopAt;
  if (order.delays) delays = order.delays;
});
// If the process of the test ends, this process ends too.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const dawdle = (upToMs = 0) => (upToMs > 0 ? sleep(Math.random() * upToMs) : undefined);

async function hit(point) {
  if (point === dieAt) {
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  }
  if (point === stopAt) {
    stopAt = 0;
    await new Promise((resolve) => process.send({ kind: 'stopping', at: now() }, resolve));
    // Stops all timers and sockets of this process until SIGCONT.
    process.kill(process.pid, 'SIGSTOP');
  }
  await dawdle(delays[point]);
}

const { watchExecution } = require('../actions/failpoints.cjs');
const { WorkRepository } = compiled('platform/work/work.repository.js');
watchExecution(
  {
    repository: WorkRepository.prototype,
    worker: compiled('platform/work/work-worker.js').WorkWorker.prototype,
    work: compiled('actions/execution/action-work.js').ActionWork.prototype,
    calls: compiled('actions/execution/connector-calls.js').ConnectorCalls.prototype,
    endings: compiled('actions/execution/action-endings.js').ActionEndings.prototype,
  },
  hit,
);

/*
 * Delays and reports each claim. A request or an approval claims its own action. The worker claims all other actions.
 */
for (const method of ['addClaimed', 'claimIn']) {
  const claim = WorkRepository.prototype[method];
  WorkRepository.prototype[method] = async function slowClaim(...args) {
    const found = await claim.apply(this, args);
    const claimed = (found.claimed ?? found).filter(({ kind }) => kind === 'action');
    if (claimed.length > 0) await dawdle(delays.claim);
    claimed.forEach(() => tell({ kind: 'claim', at: now() }));
    return found;
  };
}

const { KillSwitch } = compiled('kill-switch/kill-switch.js');
const HOLDS_LOCK = `select exists (select from pg_locks
  where locktype = 'advisory' and mode = 'ExclusiveLock' and pid = pg_backend_pid()) as locked`;
let locked = false;
const { lock, change } = KillSwitch.prototype;
KillSwitch.prototype.lock = async function watchedLock(tx) {
  await lock.call(this, tx);
  [{ locked }] = await tx.query(HOLDS_LOCK);
};
KillSwitch.prototype.change = async function watchedChange(event, ...rest) {
  const state = await change.call(this, event, ...rest);
  if (event === 'activated') tell({ kind: 'activated', at: now(), locked });
  return state;
};

/* The connector type `http` never returns `accepted`. In this process, scan_host does. */
const { http } = compiled('connectors/types/http.js');
const { send } = http.actions.scan_host;
http.actions.scan_host = {
  async send(service, call) {
    const outcome = await send(service, call);
    if (outcome.kind !== 'done') return outcome;
    return { kind: 'accepted', message: 'Begun.', handle: { id: call.actionId } };
  },
  async poll({ config, calls }) {
    const url = new URL(`${config.base_url}/state`);
    await calls.send(undefined, { method: 'GET', url, headers: {} }, { idempotent: true });
    return { kind: 'done', message: 'Ended.' };
  },
};

require(main);
