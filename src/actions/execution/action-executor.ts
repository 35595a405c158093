import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Participant } from '../../platform/database/transactions.js';
import { Settings } from '../../platform/config/settings.js';
import { traced } from '../../platform/tracing/tracing.js';
import type { Connector } from '../../connectors/connector-type.js';
import { isKillSwitchActive, KillSwitch, PermitGate } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded, shownActionId } from '../action.js';
import { RequiredLevels } from '../required-levels.js';
import { ActionConnectors } from './action-connectors.js';
import { type Claimed, Claims, FAILPOINT, Failpoints } from './claims.js';
import { ConnectorRun, type RunTools } from './connector-run.js';
import { ClaimLostError, LeaseKeeper } from './lease-keeper.js';
import { mayBegin, mayRepeat, noConnector, resultOfLoss } from './execution-rules.js';

/**
 * Executes actions. All effects of connectors go through this class: of requests, approvals, playbook steps, rollbacks and
 * recovery. A returned action has ended, or waits for the kill switch, for its vendor or for another run that claimed it.
 */
@Injectable()
export class ActionExecutor implements BeforeApplicationShutdown {
  private readonly log = new Logger(ActionExecutor.name);
  private readonly underWay = new Set<Promise<Action>>();
  private readonly tools: RunTools;

  constructor(
    private readonly connectors: ActionConnectors,
    private readonly killSwitch: KillSwitch,
    private readonly claims: Claims,
    private readonly settings: Settings,
    private readonly failpoints: Failpoints,
    levels: RequiredLevels,
  ) {
    this.tools = {
      claims,
      failpoints,
      deadlineMs: settings.actionDeadlineMs,
      hold: (action, deadlineMs) =>
        new LeaseKeeper(action, {
          leaseMs: settings.actionLeaseMs,
          deadlineMs,
          renew: (claimed) => claims.renew(claimed),
        }),
      mayTarget: (action, name) => levels.mayTarget(action, name),
      warn: (error, { id }) =>
        this.log.warn({ err: error, action: shownActionId(id) }, 'A call to a connector failed.'),
    };
  }

  /** Runs a `pending` action: it needs no approval, or is approved. */
  async run(action: Action, idempotency?: Participant<Action>): Promise<Action> {
    return await this.track(() => this.begin(action, idempotency), action);
  }

  /** Calls the connector for an action that the transaction of its request or approval claimed. */
  async runClaimed(
    claimed: Claimed,
    connector: Connector,
    idempotency?: Participant<Action>,
  ): Promise<Action> {
    return await this.track(() => this.call(claimed, connector, idempotency), claimed.action);
  }

  /** Continues a claim of another run: polls an accepted operation, or asks the vendor for the outcome of a call. */
  async resume(action: Action, connector: Connector): Promise<Action> {
    const isAccepted = action.phase === 'accepted';
    return await this.track(
      () => (isAccepted ? this.follow(action, connector) : this.ask(action, connector)),
      action,
    );
  }

  /** Ends an action with the outcome that its row allows, without a question to the vendor. Throws ClaimLostError. */
  async giveUp(action: Action, idempotency?: Participant<Action>): Promise<Action> {
    const message =
      action.phase === 'accepted'
        ? 'The vendor accepted the action, but its progress could not be read.'
        : 'The run of the action stopped before it had an outcome.';
    const loss = { kind: 'stopped', message, sent: action.sent, idempotent: false } as const;
    return await this.claims.finish(action, resultOfLoss(loss), idempotency);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private async begin(action: Action, idempotency?: Participant<Action>): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.unclaimed);
    const connector = await this.connectors.of(action);
    if (!connector && !action.sent) {
      return await this.claims.finish(action, noConnector(action), idempotency);
    }
    if (!connector || !mayBegin(action, connector)) return await this.giveUp(action, idempotency);
    const claimed = await this.claims.claim(action, connector.identity.id);
    if (!claimed) throw new ClaimLostError();
    return await this.call(claimed, connector, idempotency);
  }

  private async follow(action: Action, connector: Connector): Promise<Action> {
    return await new ConnectorRun(this.tools, connector).follow(action);
  }

  private async ask(action: Action, connector: Connector): Promise<Action> {
    const run = new ConnectorRun(this.tools, connector);
    const outcome = await run.probe(action);
    if (outcome !== 'unknown') return await run.conclude(action, outcome);
    return mayRepeat(action, connector)
      ? await this.claims.release(action, action.sent)
      : await this.giveUp(action);
  }

  private async call(
    { action, permit }: Claimed,
    connector: Connector,
    idempotency?: Participant<Action>,
  ): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.claimed);
    const lease = this.tools.hold(action, this.settings.actionDeadlineMs);
    const gate = new PermitGate(this.killSwitch, permit, lease.signal, {
      // A simulated call sends nothing, so there is no sending to record.
      noteSending: connector.simulates ? undefined : () => this.claims.noteSending(action),
      reclaim: (tx) => this.claims.confirm(tx, action),
    });
    try {
      return await new ConnectorRun(this.tools, connector, idempotency).call(action, gate, lease);
    } finally {
      lease.stop();
    }
  }

  /** Returns the stored action if another run has claimed it or the kill switch holds it. */
  private async track(work: () => Promise<Action>, action: Action): Promise<Action> {
    const result = this.inTrace(action, () =>
      work().catch(async (error: unknown) => {
        if (error instanceof ClaimLostError || isKillSwitchActive(error)) {
          return await this.claims.present(action);
        }
        throw error;
      }),
    );
    this.underWay.add(result);
    try {
      const after = await result;
      if (hasEnded(after)) this.log.debug(`${shownActionId(after.id)} ${after.status}`);
      return after;
    } finally {
      this.underWay.delete(result);
    }
  }

  private inTrace(action: Action, work: () => Promise<Action>): Promise<Action> {
    const { id, action_type, incident_id } = action;
    const attributes = { 'action.id': shownActionId(id), 'incident.id': incident_id };
    return traced(
      () => ({ name: `action ${action_type}`, kind: 'internal', attributes }),
      async (span) => {
        const after = await work();
        span?.note({ 'action.status': after.status, 'error.type': after.result?.code });
        return after;
      },
    );
  }
}
