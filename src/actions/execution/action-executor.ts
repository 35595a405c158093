import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { Settings } from '../../config/settings.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector.port.js';
import type { Participant } from '../../database/transactions.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { PermitGate } from '../../kill-switch/permit-gate.js';
import type { Permit } from '../../kill-switch/permit.js';
import { type Action, hasEnded } from '../action.js';
import { shownActionId } from '../action-id.js';
import { Claims } from './claims.js';
import { ConnectorRun, type RunTools } from './connector-run.js';
import { ClaimLostError } from './execution.errors.js';
import { FAILPOINT, Failpoints } from './failpoints.js';
import { LeaseKeeper } from './lease-keeper.js';
import { NO_CONNECTOR, resultOfLoss } from './outcome-rules.js';
import { RunGate } from './run-gate.js';

/** A call that may be repeated is, but not for ever. */
const MOST_RUNS = 5;

/**
 * The only door to a connector's effects, for a request, an approval, a playbook step, a rollback and recovery alike. The
 * action it answers with has ended, or waits: for the kill switch, for a vendor, for whoever has claimed it.
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

  /** Runs an action that is accepted and, where it has to be, approved. */
  async run(action: Action, keep: Participant<Action> = {}): Promise<Action> {
    return await this.track(this.begin(action, keep), action);
  }

  /** Goes on with an action whose run has ended in the middle, or that nobody began. */
  async recover(action: Action): Promise<Action> {
    return await this.track(action.phase ? this.resume(action) : this.begin(action, {}), action);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await Promise.allSettled(this.underWay);
  }

  private async begin(action: Action, keep: Participant<Action>): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.accepted);
    const connector = await this.registry.providerOf(action.type);
    if (!connector && !action.sent) return await this.claims.finish(action, NO_CONNECTOR, keep);
    if (!connector || action.fence >= MOST_RUNS) return await this.giveUp(action, keep);
    const claimed = await this.claims.claim(action, connector.identity.id);
    if (!claimed) throw new ClaimLostError();
    await this.failpoints.hit(FAILPOINT.claimed);
    return await this.call(claimed.action, connector, claimed.permit, keep);
  }

  private async resume(left: Action): Promise<Action> {
    const action = await this.claims.takeOver(left);
    if (!action) throw new ClaimLostError();
    const connector = await this.registry.find(action.connectorId ?? '');
    if (!connector) return await this.giveUp(action, {});
    if (action.phase === 'accepted') {
      return await this.withRun(action, connector, {}, (run) => run.watch(action));
    }
    const known = action.sent
      ? await this.withRun(action, connector, {}, async (run) => {
          const outcome = await run.probe(action);
          return outcome === 'unknown' ? undefined : await run.conclude(action, outcome);
        })
      : undefined;
    if (known) return known;
    if (!connector.idempotent(action.type) || action.fence >= MOST_RUNS) {
      return await this.giveUp(action, {});
    }
    const permit = await this.claims.renewPermit(action).catch(async (error: unknown) => {
      if (isKillSwitchActive(error)) await this.claims.release(action, action.sent);
      throw error;
    });
    return await this.call(action, connector, permit, {});
  }

  private async call(
    action: Action,
    connector: Connector,
    permit: Permit,
    keep: Participant<Action>,
  ): Promise<Action> {
    return await this.withRun(action, connector, keep, (run, { signal }) => {
      const permits = new PermitGate(this.killSwitch, permit, signal, (tx) =>
        this.claims.confirm(tx, action),
      );
      return run.call(action, new RunGate(permits, () => this.claims.noteSending(action)));
    });
  }

  private async withRun<T>(
    action: Action,
    connector: Connector,
    keep: Participant<Action>,
    work: (run: ConnectorRun, lease: LeaseKeeper) => Promise<T>,
  ): Promise<T> {
    const lease = new LeaseKeeper(action, {
      leaseMs: this.settings.actionLeaseMs,
      deadlineMs: this.settings.actionDeadlineMs,
      renew: (claimed) => this.claims.renew(claimed),
    });
    try {
      return await work(new ConnectorRun(this.tools, connector, lease, keep), lease);
    } finally {
      lease.stop();
    }
  }

  private async giveUp(action: Action, keep: Participant<Action>): Promise<Action> {
    const message = 'The run that had it ended before it was done.';
    const loss = { kind: 'stopped', message, sent: action.sent, idempotent: false } as const;
    return await this.claims.finish(action, resultOfLoss(loss), keep);
  }

  /** What another run has, and what the kill switch holds, is answered as it is. */
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

function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}
