import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { traced } from '../../platform/tracing/tracing.js';
import type { Connector } from '../../connectors/connector-type.js';
import { isKillSwitchActive, KillSwitch, PermitGate } from '../../kill-switch/kill-switch.js';
import { type Action, hasEnded, shownActionId } from '../action.js';
import { RequiredLevels } from '../required-levels.js';
import { ActionConnectors } from './action-connectors.js';
import { type Claimed, Claims, FAILPOINT, Failpoints } from './claims.js';
import { ConnectorRun, type RunOptions, type RunTools } from './connector-run.js';
import { ClaimLostError, LeaseKeeper } from './lease-keeper.js';
import { mayBegin, mayRepeat, noConnector, resultOfLoss } from './execution-rules.js';

/**
 * The only door to a connector's effects, for a request, an approval, a playbook step, a rollback and recovery alike. The
 * action that it answers with has ended, or waits for the kill switch, for its vendor, or for another run that has claimed it.
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

  /** Runs an action that is `pending`: it needs no approval, or was approved. */
  async run(action: Action, options: RunOptions = {}): Promise<Action> {
    return await this.track(() => this.begin(action, options), action);
  }

  /** Calls the connector for an action that was claimed by the transaction that created or approved it. */
  async runClaimed(
    claimed: Claimed,
    connector: Connector,
    options: RunOptions = {},
  ): Promise<Action> {
    return await this.track(() => this.call(claimed, connector, options), claimed.action);
  }

  /** Goes on with a claim that was taken over: the vendor is doing it, or is asked what became of it. */
  async resume(action: Action, connector: Connector): Promise<Action> {
    const isDoingIt = action.phase === 'accepted';
    return await this.track(
      () => (isDoingIt ? this.follow(action, connector) : this.ask(action, connector)),
      action,
    );
  }

  /** Ends an action by what its row says of it, without asking anybody. Throws ClaimLostError. */
  async giveUp(action: Action, { idempotency }: RunOptions = {}): Promise<Action> {
    const message =
      action.phase === 'accepted'
        ? 'The vendor accepted it, and could not be asked how far it is.'
        : 'The run that had it ended before it was done.';
    const loss = { kind: 'stopped', message, sent: action.sent, idempotent: false } as const;
    return await this.claims.finish(action, resultOfLoss(loss), idempotency);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private async begin(action: Action, options: RunOptions): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.unclaimed);
    const connector = await this.connectors.of(action);
    if (!connector && !action.sent) {
      return await this.claims.finish(action, noConnector(action), options.idempotency);
    }
    if (!connector || !mayBegin(action, connector)) return await this.giveUp(action, options);
    const claimed = await this.claims.claim(action, connector.identity.id);
    if (!claimed) throw new ClaimLostError();
    return await this.call(claimed, connector, options);
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
    options: RunOptions,
  ): Promise<Action> {
    await this.failpoints.hit(FAILPOINT.claimed);
    const lease = this.tools.hold(action, this.settings.actionDeadlineMs);
    const gate = new PermitGate(this.killSwitch, permit, lease.signal, {
      // Where nothing leaves the service, nothing has to be remembered about it.
      noteSending: connector.simulates ? undefined : () => this.claims.noteSending(action),
      reclaim: (tx) => this.claims.confirm(tx, action),
    });
    try {
      return await new ConnectorRun(this.tools, connector, options).call(action, gate, lease);
    } finally {
      lease.stop();
    }
  }

  /** Answers with the action as it is when another run has it, or the kill switch holds it. */
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
