import { setTimeout as sleep } from 'node:timers/promises';
import { ChaosReplica, monotonic, type Report } from '../support/chaos/chaos-replica.js';
import { ask, ChaosSite, type Kind } from '../support/chaos/chaos-site.js';
import { FULL } from '../support/chaos/figures.js';

/** Events of a kill switch and its callers, on the monotonic clock of one process. */
interface ClaimRecord {
  readonly kind: 'claim';
  readonly replica: number;
  /** Time at which the commit of the claim was requested. */
  readonly committing: number;
  /** Time at which the first request of the claim was sent. Absent if the claim was abandoned. */
  readonly sent?: number;
}

interface ActivationRecord {
  readonly kind: 'activation';
  readonly asked: number;
  readonly committed: number;
  readonly answered: number;
}

interface DeactivationRecord {
  readonly kind: 'deactivation';
  readonly asked: number;
}

type HistoryRecord = ClaimRecord | ActivationRecord | DeactivationRecord;

interface Violation {
  readonly rule: 'sent while on' | 'claimed while on';
  readonly at: number;
  readonly activation: ActivationRecord;
}

/**
 * Returns violations of two rules. No request is sent between the response to an activation and the request of the next
 * deactivation. No claim requests its commit after an activation has committed.
 */
function violationsIn(history: readonly HistoryRecord[]): Violation[] {
  const deactivations = history.filter((one) => one.kind === 'deactivation');
  const claims = history.filter((one) => one.kind === 'claim');
  return history.flatMap((activation) => {
    if (activation.kind !== 'activation') return [];
    const until = Math.min(
      ...deactivations.map(({ asked }) => asked).filter((asked) => asked > activation.asked),
    );
    return claims.flatMap(({ committing, sent }): Violation[] => [
      ...(sent !== undefined && sent > activation.answered && sent < until
        ? [{ rule: 'sent while on', at: sent, activation } as const]
        : []),
      ...(committing > activation.committed && committing < until
        ? [{ rule: 'claimed while on', at: committing, activation } as const]
        : []),
    ]);
  });
}

/** Fault of a replica during an activation. */
type Round = 'plain' | 'kill other' | 'kill asked' | 'stop other';

const CLAIMERS = 12;
/** Longer than a permit, so that some permits are renewed. */
const LATE_SENDING_MS = 1_300;
const SLOW_CLAIM_MS = 100;

const KINDS: readonly Kind[] = [
  { type: 'block_sender', parameters: { sender: 'a@chaos.example' }, behaviours: ['apply'] },
  { type: 'lookup_domain', parameters: { domain: 'chaos.example' }, behaviours: ['apply'] },
  {
    type: 'quarantine_email',
    parameters: { message_id: '<m@chaos.example>' },
    // Each repetition has its own permit and starts a little later.
    behaviours: ['unavailable', 'unavailable', 'apply'],
    idempotent: true,
  },
];

interface SwitchHistory {
  /** Number of requests that the vendor received. */
  readonly received: number;
  /** Number of activations in which the replica held the lock. */
  readonly locked: number;
  readonly violations: readonly Violation[];
  /** Violations in rounds in which a replica was stopped. */
  readonly afterStop: readonly Violation[];
}

/** Two replicas run actions while the switch is turned on and off. The vendor records the time of each request. */
async function switchHistory(rounds: readonly Round[]): Promise<SwitchHistory> {
  const reports: Report[] = [];
  const site = await ChaosSite.open(KINDS, {
    heard: (report) => reports.push(report),
    delays: { claim: SLOW_CLAIM_MS, 2: LATE_SENDING_MS },
    settings: { ACTION_LEASE_MS: '3000', ACTION_WAIT_MS: '300' },
  });
  try {
    return await new SwitchStorm(site, reports).run(rounds);
  } finally {
    await site.close();
  }
}

interface Turn {
  readonly round: Round;
  readonly asked: number;
  readonly answered: number;
  readonly until: number;
}

class SwitchStorm {
  private readonly turns: Turn[] = [];
  private over = false;
  private key = '';

  constructor(
    private readonly site: ChaosSite,
    private readonly reports: readonly Report[],
  ) {}

  async run(rounds: readonly Round[]): Promise<SwitchHistory> {
    this.key = await this.site.makeKey('manager');
    // The clock of the vendor begins at the start of this process.
    const offset = monotonic() - performance.now();
    const claimers = Array.from({ length: CLAIMERS }, (_, at) => this.claimer(at));
    for (const [at, round] of rounds.entries()) {
      await sleep(400 + Math.random() * 400);
      await this.turn(round, at % 2);
    }
    this.over = true;
    await Promise.all(claimers);
    // Counts only POST requests. Health checks of connectors and polls of actions are GET requests, which the switch
    // permits.
    const effects = this.site.vendor.requests.filter(({ method }) => method === 'POST');
    return this.judged(effects.map(({ at }) => at + offset));
  }

  private async turn(round: Round, place: number): Promise<void> {
    const other = this.site.places[1 - place]!;
    const asked = this.site.places[place]!;
    let back: Promise<unknown> = Promise.resolve();
    if (round === 'stop other') other.signal('SIGSTOP');
    if (round === 'kill asked') {
      void this.ask(place, 'activate').catch(() => undefined);
      await sleep(Math.random() * 900);
      await asked.kill();
      back = this.site.restart(place);
    }
    if (round === 'kill other') {
      back = sleep(Math.random() * 900)
        .then(() => other.kill())
        .then(() => this.site.restart(1 - place));
    }
    const from = monotonic();
    await this.ask(round === 'kill asked' ? 1 - place : place, 'activate');
    const answered = monotonic();
    if (round === 'stop other') {
      await sleep(Math.random() * 600);
      other.signal('SIGCONT');
    }
    // Waits, so that requests that were sent too late can arrive.
    await Promise.all([sleep(700), back]);
    const until = monotonic();
    this.turns.push({ round, asked: from, answered, until });
    await this.ask(place, 'deactivate');
  }

  private async ask(place: number, what: 'activate' | 'deactivate'): Promise<void> {
    const { url } = this.site.places[place]!;
    const body = { reason: 'chaos' };
    const { status } = await ask(url, 'POST', `/api/kill-switch/${what}`, { key: this.key, body });
    if (status !== 200) throw new Error(`${what} answered ${status}`);
  }

  private async claimer(seed: number): Promise<void> {
    for (let turn = seed; !this.over; turn += 1) {
      const { type, parameters } = KINDS[turn % KINDS.length]!;
      const { url } = this.site.places[turn % 2]!;
      const answer = await ask(url, 'POST', '/api/actions/execute', {
        key: this.key,
        body: { action: type, parameters },
        timeoutMs: 2_000,
      }).catch(() => undefined);
      if (!answer || answer.status >= 400) await sleep(60);
    }
  }

  private judged(sent: readonly number[]): SwitchHistory {
    const commits = this.reports.filter((report) => report.kind === 'activated');
    const history: HistoryRecord[] = this.turns.flatMap(({ asked, answered, until }) => {
      // If an activation was requested twice, the first replica had committed it before it was killed.
      const commit = commits.findLast(({ at }) => at < answered && at > asked);
      // For an activation without the lock, the rule about claims does not apply, only the rule about requests.
      const committed = commit?.locked ? commit.at : Infinity;
      return [
        { kind: 'activation', asked, committed, answered },
        { kind: 'deactivation', asked: until },
      ] as const;
    });
    for (const { kind, at } of this.reports) {
      if (kind === 'claim') history.push({ kind, replica: 0, committing: at });
    }
    for (const at of sent) {
      history.push({ kind: 'claim', replica: 0, committing: -Infinity, sent: at });
    }
    const stops = new Set(
      this.turns.filter(({ round }) => round === 'stop other').map(({ asked }) => asked),
    );
    const all = violationsIn(history);
    return {
      received: sent.length,
      locked: commits.filter(({ locked }) => locked).length,
      violations: all.filter(({ activation }) => !stops.has(activation.asked)),
      afterStop: all.filter(({ activation }) => stops.has(activation.asked)),
    };
  }
}

const PATTERN: readonly Round[] = [
  'plain',
  'kill other',
  'plain',
  'stop other',
  'plain',
  'kill asked',
];
const ROUNDS = Array.from({ length: FULL ? 10 : 1 }, () => PATTERN).flat();
const LIMIT_MS = FULL ? 600_000 : 120_000;

describe('the kill switch of two replicas', () => {
  afterEach(() => ChaosReplica.endAll());

  it(
    'lets no request reach the vendor after an activation, even if a replica is killed or paused',
    async () => {
      const history = await switchHistory(ROUNDS);
      expect(history.violations).toEqual([]);
      // A process may be stopped between the last check and the write to the socket. So each stop may cause one late
      // request, but no more.
      const stops = ROUNDS.filter((round) => round === 'stop other').length;
      const late = history.afterStop.filter(({ rule }) => rule === 'sent while on');
      expect(late.length).toBeLessThanOrEqual(stops);
      expect(history.received).toBeGreaterThan(ROUNDS.length);
      // With no such activation, the rule about claims would not have been checked.
      expect(history.locked).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
