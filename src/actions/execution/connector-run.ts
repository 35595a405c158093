import { shownActionId } from '../action-id.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Participant } from '../../platform/database/transactions.js';
import type { ActionCall, Connector, Outcome } from '../../connectors/connector.port.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import { isKillSwitchActive } from '../../kill-switch/kill-switch.js';
import { PermitLapsed } from '../../kill-switch/permit.js';
import type { PermitGate } from '../../kill-switch/permit-gate.js';
import type { Action } from '../action.js';
import type { Claims } from './claims.js';
import { CallDeadlineError, ClaimLostError } from './execution.errors.js';
import { FAILPOINT, type Failpoints } from './failpoints.js';
import type { LeaseKeeper } from './lease-keeper.js';
import { failed, type Loss, pollPauseMs, resultOf, resultOfLoss } from './execution-rules.js';

export interface RunOptions {
  /** Takes part in the transaction that finishes the action. */
  readonly idempotency?: Participant<Action>;
  /** Called when the vendor has answered: what is still to come is asking it now and then how far it is. */
  readonly answered?: () => void;
}

export interface RunTools {
  readonly claims: Claims;
  readonly failpoints: Failpoints;
  readonly deadlineMs: number;
  /** Aborted when this replica stops: other replicas go on with what the vendors are doing. */
  readonly stopping: AbortSignal;
  readonly warn: (error: unknown, action: Action) => void;
}

/** One run with its connector: from the claim to the end of the action, or until another replica goes on with it. */
export class ConnectorRun {
  constructor(
    private readonly tools: RunTools,
    private readonly connector: Connector,
    private readonly lease: LeaseKeeper,
    private readonly options: RunOptions,
  ) {}

  private get idempotency(): Participant<Action> {
    return this.options.idempotency ?? {};
  }

  /** Makes the call that the action was claimed for. */
  async call(action: Action, gate: PermitGate): Promise<Action> {
    let outcome: Outcome;
    try {
      const call = await this.callOf(action);
      outcome = await this.lease.unlessOver(this.connector.execute(call, gate));
    } catch (error) {
      return await this.afterError(action, gate, error);
    }
    await this.tools.failpoints.hit(FAILPOINT.answered);
    return await this.conclude(action, outcome);
  }

  /** For a call of which nobody knows whether it was made: asks the vendor what became of it. */
  async settle(action: Action, loss: Loss): Promise<Action> {
    const known = loss.sent ? await this.probe(action) : 'unknown';
    if (known !== 'unknown') return await this.conclude(action, known);
    return await this.tools.claims.finish(action, resultOfLoss(loss), this.idempotency);
  }

  /** What the vendor says became of the action; `unknown` when it cannot tell or does not answer. */
  async probe(action: Action): Promise<Outcome | 'unknown'> {
    if (!this.connector.probe) return 'unknown';
    try {
      return await this.lease.unlessOver(this.connector.probe(await this.callOf(action)));
    } catch (error) {
      if (error instanceof ClaimLostError) throw error;
      this.tools.warn(error, action);
      return 'unknown';
    }
  }

  async conclude(action: Action, outcome: Outcome): Promise<Action> {
    this.options.answered?.();
    if (outcome.kind !== 'accepted') {
      return await this.tools.claims.finish(action, resultOf(outcome), this.idempotency);
    }
    return await this.watch(await this.tools.claims.vendorAccepted(action, outcome.handle));
  }

  /** Asks the vendor until what it accepted has ended, but no longer than an action may take. */
  async watch(action: Action): Promise<Action> {
    const { claims, deadlineMs, stopping } = this.tools;
    const giveUpAt = (action.acceptedAt?.getTime() ?? Date.now()) + deadlineMs;
    let { handle = {} } = action;
    for (let looks = 0; Date.now() < giveUpAt; looks += 1) {
      const pause = Math.min(pollPauseMs(looks), giveUpAt - Date.now());
      await sleep(pause, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return await claims.release(action, action.sent);
      const outcome = await this.look(action, handle);
      if (!outcome) continue;
      if (outcome.kind !== 'accepted') {
        return await claims.finish(action, resultOf(outcome), this.idempotency);
      }
      if (JSON.stringify(outcome.handle) !== JSON.stringify(handle)) {
        ({ handle } = outcome);
        await claims.vendorAccepted(action, handle);
      }
    }
    const message = `The vendor accepted it and had not finished after ${deadlineMs} ms.`;
    return await claims.finish(action, failed('outcome_unknown', message), this.idempotency);
  }

  private async look(
    action: Action,
    handle: Readonly<Record<string, unknown>>,
  ): Promise<Outcome | undefined> {
    try {
      return await this.lease.unlessOver(
        this.connector.poll?.(handle, await this.callOf(action)) ?? Promise.resolve(undefined),
      );
    } catch (error) {
      if (error instanceof ClaimLostError) throw error;
      // The vendor does not answer just now; what it accepted goes on.
      this.tools.warn(error, action);
      return undefined;
    }
  }

  /** The fence counts the attempts: the vendor's log shows which one it was. */
  private async callOf(action: Action): Promise<ActionCall> {
    const { id, fence, type, parameters } = action;
    const undoes = await this.tools.claims.undone(action);
    return { actionId: shownActionId(id), attempt: fence, type, parameters, undoes };
  }

  private async afterError(action: Action, gate: PermitGate, error: unknown): Promise<Action> {
    if (error instanceof ClaimLostError) throw error;
    const sent = action.sent || gate.opened;
    const idempotent = this.connector.idempotent(action.type);
    if (mayGoOnLater(error, gate) && (!gate.opened || idempotent)) {
      return await this.tools.claims.release(action, sent);
    }
    if (error instanceof UnreachableError && !action.sent) {
      const loss = {
        kind: 'unreachable',
        message: error.message,
        sent: false,
        idempotent,
      } as const;
      return await this.tools.claims.finish(action, resultOfLoss(loss), this.idempotency);
    }
    const kind = lossKind(error);
    if (kind === 'stopped') this.tools.warn(error, action);
    const message = kind === 'stopped' ? 'The call ended in an error.' : (error as Error).message;
    return await this.settle(action, { kind, message, sent, idempotent });
  }
}

/** The gate stopped a request for a reason that passes. */
function mayGoOnLater(error: unknown, gate: PermitGate): boolean {
  if (error instanceof PermitLapsed || isKillSwitchActive(error)) return true;
  return !gate.opened && isDatabaseUnavailable(error);
}

function lossKind(error: unknown): Loss['kind'] {
  if (error instanceof CallDeadlineError) return 'timeout';
  if (error instanceof OutcomeUnknownError) return error.reason;
  return error instanceof UnreachableError ? 'unreachable' : 'stopped';
}
