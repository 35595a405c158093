import { actionType } from '../../action-catalogue/action-types.js';
import { type Action, reportedSender, shownActionId } from '../action.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Participant } from '../../platform/database/transactions.js';
import type { ActionCall, Connector, Outcome } from '../../connectors/connector-type.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import {
  isKillSwitchActive,
  type PermitGate,
  PermitLapsed,
} from '../../kill-switch/kill-switch.js';
import { type Claims, FAILPOINT, type Failpoints } from './claims.js';
import { ClaimLostError, type LeaseKeeper } from './lease-keeper.js';
import {
  failed,
  type Loss,
  QUESTION_MS,
  restMs,
  resultOf,
  resultOfLoss,
} from './execution-rules.js';
import { presentTime } from '../../platform/clock.js';

export interface RunTools {
  readonly claims: Claims;
  readonly failpoints: Failpoints;
  readonly deadlineMs: number;
  /** Renews the claim until it is stopped or `deadlineMs` has passed. */
  readonly hold: (action: Action, deadlineMs: number) => LeaseKeeper;
  /** See ActionCall. */
  readonly mayTarget: (action: Action, name: string | undefined) => boolean;
  readonly warn: (error: unknown, action: Action) => void;
}

/**
 * One run of an action: from its claim to its end, or until the vendor accepts it. An accepted action has no run: when it is
 * due again, any replica polls it.
 */
export class ConnectorRun {
  constructor(
    private readonly tools: RunTools,
    private readonly connector: Connector,
    /** Joins the transaction that ends the action. */
    private readonly idempotency: Participant<Action> = {},
  ) {}

  async call(action: Action, gate: PermitGate, lease: LeaseKeeper): Promise<Action> {
    let outcome: Outcome;
    try {
      const call = await this.callOf(action);
      outcome = await lease.unlessOver(this.connector.execute(call, gate));
    } catch (error) {
      return await this.afterError(action, gate, error);
    }
    await this.tools.failpoints.hit(FAILPOINT.answered);
    return await this.conclude(action, outcome);
  }

  /** Ends a call without an outcome: asks the vendor for the outcome if a request may have been sent. */
  async settle(action: Action, loss: Loss): Promise<Action> {
    const known = loss.sent ? await this.probe(action) : 'unknown';
    if (known !== 'unknown') return await this.conclude(action, known);
    return await this.tools.claims.finish(action, resultOfLoss(loss), this.idempotency);
  }

  /** Asks the vendor for the outcome of the action. Returns `unknown` if the vendor does not know it or does not answer. */
  async probe(action: Action): Promise<Outcome | 'unknown'> {
    const { connector } = this;
    if (!connector.probe) return 'unknown';
    const ask = async () => await connector.probe!(await this.callOf(action));
    return (await this.question(action, ask)) ?? 'unknown';
  }

  /** Polls an accepted operation once. If it has not ended, the action rests until the next poll. */
  async follow(action: Action): Promise<Action> {
    const { connector } = this;
    const { handle = {} } = action;
    const answer = await this.question(action, async () =>
      connector.poll?.(handle, await this.callOf(action)),
    );
    return await this.conclude(
      action,
      // Without an answer the operation counts as still accepted.
      answer ?? { kind: 'accepted', message: 'No answer.', handle },
    );
  }

  async conclude(action: Action, outcome: Outcome): Promise<Action> {
    const { claims, deadlineMs } = this.tools;
    if (outcome.kind !== 'accepted') {
      return await claims.finish(action, resultOf(outcome), this.idempotency);
    }
    const rest = restMs(action.accepted_at, new Date(presentTime()), deadlineMs);
    if (rest > 0) return await claims.vendorAccepted(action, outcome.handle, rest);
    const message = `The vendor accepted the action and did not finish it within ${deadlineMs} ms.`;
    return await claims.finish(action, failed('outcome_unknown', message), this.idempotency);
  }

  /** Gives each question its own deadline, independent of the call. Returns `undefined` without an answer. */
  private async question<T>(action: Action, ask: () => Promise<T>): Promise<T | undefined> {
    const lease = this.tools.hold(action, QUESTION_MS);
    try {
      return await lease.unlessOver(ask());
    } catch (error) {
      if (error instanceof ClaimLostError) throw error;
      this.tools.warn(error, action);
      return undefined;
    } finally {
      lease.stop();
    }
  }

  /** The fence counts the attempts, so the log of the vendor shows the attempt. */
  private async callOf(action: Action): Promise<ActionCall> {
    const { id, fence, action_type, parameters } = action;
    const undoes = await this.tools.claims.resultToRollBack(action);
    const mayTarget = (name: string | undefined): boolean => this.tools.mayTarget(action, name);
    const sender = reportedSender(action);
    return {
      actionId: shownActionId(id),
      attempt: fence,
      type: action_type,
      parameters,
      mayTarget,
      sender,
      undoes,
    };
  }

  private async afterError(action: Action, gate: PermitGate, error: unknown): Promise<Action> {
    if (error instanceof ClaimLostError) throw error;
    const sent = action.sent || gate.opened;
    const idempotent = this.connector.idempotent(action.action_type);
    if (canRetryLater(error, gate) && (!gate.opened || idempotent)) {
      return await this.tools.claims.release(action, sent);
    }
    if (error instanceof UnreachableError && !action.sent) {
      const loss = {
        kind: 'unreachable',
        message: this.named(error.message),
        sent: false,
        idempotent,
      } as const;
      return await this.tools.claims.finish(action, resultOfLoss(loss), this.idempotency);
    }
    const kind = lossKind(error);
    if (kind === 'stopped') this.tools.warn(error, action);
    const cause = kind === 'stopped' ? 'The call failed with an error.' : (error as Error).message;
    const message = this.named(cause);
    const isLookUp = actionType(action.action_type).category === 'intelligence';
    return await this.settle(action, { kind, message, sent, idempotent, isLookUp });
  }

  /** Several connectors may provide an action, so a failure names its connector. */
  private named(message: string): string {
    return `${this.connector.identity.name}: ${message}`;
  }
}

/** Whether the gate stopped the request for a temporary reason. */
function canRetryLater(error: unknown, gate: PermitGate): boolean {
  if (error instanceof PermitLapsed || isKillSwitchActive(error)) return true;
  return !gate.opened && isDatabaseUnavailable(error);
}

function lossKind(error: unknown): Loss['kind'] {
  if (error instanceof OutcomeUnknownError) return error.reason;
  return error instanceof UnreachableError ? 'unreachable' : 'stopped';
}
