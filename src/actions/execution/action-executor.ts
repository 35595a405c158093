import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector.port.js';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import { PermitGate } from '../../kill-switch/permit-gate.js';
import { type Action, hasEnded } from '../action.js';
import { shownActionId } from '../action-id.js';
import { type Claimed, Claims } from './claims.js';
import { ConnectorPlaces } from './connector-places.js';
import { ConnectorRun, type RunOptions, type RunTools } from './connector-run.js';
import { ClaimLostError } from './execution.errors.js';
import { FAILPOINT, Failpoints } from './failpoints.js';
import { LeaseKeeper } from './lease-keeper.js';
import { mayBegin, mayRepeat, NO_CONNECTOR, resultOfLoss } from './execution-rules.js';

/**
 * The only door to a connector's effects, for a request, an approval, a playbook step, a rollback and recovery alike. The
 * action that it answers with has ended, or waits for the kill switch, for its vendor, or for another run that has claimed it.
 */
@Injectable()
export class ActionExecutor implements BeforeApplicationShutdown {
  private readonly log = new Logger(ActionExecutor.name);
  private readonly stop = new AbortController();
  private readonly underWay = new Set<Promise<Action>>();
  private readonly tools: RunTools;

  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly killSwitch: KillSwitch,
    private readonly claims: Claims,
    private readonly places: ConnectorPlaces,
    private readonly settings: Settings,
    private readonly failpoints: Failpoints,
  ) {
    this.tools = {
      claims,
      failpoints,
      deadlineMs: settings.actionDeadlineMs,
      stopping: this.stop.signal,
      warn: (error, { id }) =>
        this.log.warn({ err: error, action: shownActionId(id) }, 'A call to a connector failed.'),
    };
  }

  /** Runs an action that is `pending`: it needs no approval, or was approved. */
  async run(action: Action, options: RunOptions = {}): Promise<Action> {
    return await this.track(this.begin(action, options), action);
  }

  /** Calls the connector for an action that was claimed by the transaction that created it. */
  async runClaimed(
    claimed: Claimed,
    connector: Connector,
    options: RunOptions = {},
  ): Promise<Action> {
    return await this.track(this.call(claimed, connector, options), claimed.action);
  }

  /** Goes on with a claim that was taken over: the vendor is doing it, or is asked what became of it. */
  async resume(action: Action, connector: Connector): Promise<Action> {
    const isDoingIt = action.phase === 'accepted';
    const work = isDoingIt ? this.watch(action, connector) : this.ask(action, connector);
    return await this.track(work, action);
  }

  /** Ends an action by what its row says of it, without asking anybody. Throws ClaimLostError. */
  async giveUp(action: Action, { idempotency }: RunOptions = {}): Promise<Action> {
    const message = 'The run that had it ended before it was done.';
    const loss = { kind: 'stopped', message, sent: action.sent, idempotent: false } as const;
    return await this.claims.finish(action, resultOfLoss(loss), idempotency);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await Promise.allSettled(this.underWay);
  }

  private async begin(action: Action, options: RunOptions): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.unclaimed);
    const connector = await this.registry.providerOf(action.type);
    if (!connector && !action.sent) {
      return await this.claims.finish(action, NO_CONNECTOR, options.idempotency);
    }
    if (!connector || !mayBegin(action, connector)) return await this.giveUp(action, options);
    const claimed = await this.claims.claim(action, connector.identity.id);
    if (!claimed) throw new ClaimLostError();
    return await this.call(claimed, connector, options);
  }

  private async watch(action: Action, connector: Connector): Promise<Action> {
    return await this.withRun(action, connector, {}, (run) => run.watch(action));
  }

  private async ask(action: Action, connector: Connector): Promise<Action> {
    const known = await this.withRun(action, connector, {}, async (run) => {
      const outcome = await this.places.within(connector.identity.id, () => run.probe(action));
      return outcome === 'unknown' ? undefined : await run.conclude(action, outcome);
    });
    if (known) return known;
    return mayRepeat(action, connector)
      ? await this.claims.release(action, action.sent)
      : await this.giveUp(action);
  }

  private async call(
    { action, permit }: Claimed,
    connector: Connector,
    options: RunOptions,
  ): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.claimed);
    return await this.withRun(action, connector, options, (run, { signal }) => {
      const gate = new PermitGate(this.killSwitch, permit, signal, {
        noteSending: () => this.claims.noteSending(action),
        reclaim: (tx) => this.claims.confirm(tx, action),
      });
      return run.call(action, gate);
    });
  }

  private async withRun<T>(
    action: Action,
    connector: Connector,
    options: RunOptions,
    work: (run: ConnectorRun, lease: LeaseKeeper) => Promise<T>,
  ): Promise<T> {
    const lease = new LeaseKeeper(action, {
      leaseMs: this.settings.actionLeaseMs,
      deadlineMs: this.settings.actionDeadlineMs,
      renew: (claimed) => this.claims.renew(claimed),
    });
    try {
      return await work(new ConnectorRun(this.tools, connector, lease, options), lease);
    } finally {
      lease.stop();
    }
  }

  /** Answers with the action as it is when another run has it, or the kill switch holds it. */
  private async track(work: Promise<Action>, action: Action): Promise<Action> {
    const result = work.catch(async (error: unknown) => {
      if (error instanceof ClaimLostError || isKillSwitchActive(error)) {
        return await this.claims.present(action);
      }
      throw error;
    });
    this.underWay.add(result);
    try {
      const after = await result;
      if (hasEnded(after)) this.log.debug(`${shownActionId(after.id)} ${after.status}`);
      return after;
    } finally {
      this.underWay.delete(result);
    }
  }
}
