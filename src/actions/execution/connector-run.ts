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

export interface RunOptions {
  /** Takes part in the transaction that finishes the action. */
  readonly idempotency?: Participant<Action>;
}

export interface RunTools {
  readonly claims: Claims;
  readonly failpoints: Failpoints;
  readonly deadlineMs: number;
  /** Renews the claim until it is stopped; what takes longer than this is given up. */
  readonly hold: (action: Action, deadlineMs: number) => LeaseKeeper;
  /** See ActionCall. */
  readonly mayTarget: (action: Action, name: string | undefined) => boolean;
  readonly warn: (error: unknown, action: Action) => void;
}

/**
 * One run with its connector: from the claim to the end of the action, or until the vendor says that it is doing it. Then
 * nobody has the action: its row says when it is due to be asked about again, and any replica does.
 */
export class ConnectorRun {
  constructor(
    private readonly tools: RunTools,
    private readonly connector: Connector,
    private readonly options: RunOptions = {},
  ) {}

  private get idempotency(): Participant<Action> {
    return this.options.idempotency ?? {};
  }

  /** Makes the call that the action was claimed for. */
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

  /** For a call of which nobody knows whether it was made: asks the vendor what became of it. */
  async settle(action: Action, loss: Loss): Promise<Action> {
    const known = loss.sent ? await this.probe(action) : 'unknown';
    if (known !== 'unknown') return await this.conclude(action, known);
    return await this.tools.claims.finish(action, resultOfLoss(loss), this.idempotency);
  }

  /** What the vendor says became of the action; `unknown` when it cannot tell or does not answer. */
  async probe(action: Action): Promise<Outcome | 'unknown'> {
    const { connector } = this;
    if (!connector.probe) return 'unknown';
    const ask = async () => await connector.probe!(await this.callOf(action));
    return (await this.question(action, ask)) ?? 'unknown';
  }

  /** Asks once how far the vendor is with what it accepted. Where that has not ended, the action rests until it is due again. */
  async follow(action: Action): Promise<Action> {
    const { connector } = this;
    const { handle = {} } = action;
    const answer = await this.question(action, async () =>
      connector.poll?.(handle, await this.callOf(action)),
    );
    return await this.conclude(
      action,
      // The vendor does not answer just now; what it accepted goes on.
      answer ?? { kind: 'accepted', message: 'It does not say.', handle },
    );
  }

  async conclude(action: Action, outcome: Outcome): Promise<Action> {
    const { claims, deadlineMs } = this.tools;
    if (outcome.kind !== 'accepted') {
      return await claims.finish(action, resultOf(outcome), this.idempotency);
    }
    const rest = restMs(action.accepted_at, new Date(presentTime()), deadlineMs);
    if (rest > 0) return await claims.vendorAccepted(action, outcome.handle, rest);
    const message = `The vendor accepted it and had not finished after ${deadlineMs} ms.`;
    return await claims.finish(action, failed('outcome_unknown', message), this.idempotency);
  }

  /** The time for a question begins when it is asked, however long the call took. Undefined when there was no answer. */
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

  /** The fence counts the attempts: the vendor's log shows which one it was. */
  private async callOf(action: Action): Promise<ActionCall> {
    const { id, fence, action_type, parameters } = action;
    const undoes = await this.tools.claims.undone(action);
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
    if (mayGoOnLater(error, gate) && (!gate.opened || idempotent)) {
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
    const said = kind === 'stopped' ? 'The call ended in an error.' : (error as Error).message;
    const message = this.named(said);
    const isLookUp = actionType(action.action_type).category === 'intelligence';
    return await this.settle(action, { kind, message, sent, idempotent, isLookUp });
  }

  /** Of several connectors that provide an action a failure says which one it was. */
  private named(message: string): string {
    return `${this.connector.identity.name}: ${message}`;
  }
}

/** The gate stopped a request for a reason that passes. */
function mayGoOnLater(error: unknown, gate: PermitGate): boolean {
  if (error instanceof PermitLapsed || isKillSwitchActive(error)) return true;
  return !gate.opened && isDatabaseUnavailable(error);
}

function lossKind(error: unknown): Loss['kind'] {
  if (error instanceof OutcomeUnknownError) return error.reason;
  return error instanceof UnreachableError ? 'unreachable' : 'stopped';
}
