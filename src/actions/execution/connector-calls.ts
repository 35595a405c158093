import { Injectable, Logger } from '@nestjs/common';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { ActionCall, Connector, Outcome } from '../../connectors/connector-type.js';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import { type Permit, PermitGate, PermitLapsed } from '../../kill-switch/permit.js';
import { presentTime } from '../../platform/clock.js';
import { unlessAborted, withDeadline } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/sqlstate.js';
import type { Tx } from '../../platform/database/transactions.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { type Claimed, LostClaims } from '../../platform/work/kind.js';
import {
  type Action,
  type ActionPreview,
  type ActionResult,
  reportedSender,
  shownActionId,
} from '../action.js';
import { Actions } from '../actions.js';
import { RequiredLevels } from '../required-levels.js';
import {
  type CallState,
  type Loss,
  pollMs,
  QUESTION_MS,
  resultOf,
  resultOfLoss,
} from './execution-rules.js';

export interface Call {
  readonly action: Action;
  readonly connector: Connector;
  readonly row: Claimed;
  readonly state: CallState;
}

export type CallEnd =
  | { readonly kind: 'ended'; readonly result: ActionResult }
  | { readonly kind: 'accepted'; readonly handle: Record<string, unknown> }
  /** The permit check stopped the call for a temporary reason: the kill switch or a database outage. */
  | { readonly kind: 'stopped'; readonly sent: boolean; readonly isHeld: boolean };

@Injectable()
export class ConnectorCalls {
  private readonly log = new Logger(ConnectorCalls.name);

  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly actions: Actions,
    private readonly killSwitch: KillSwitch,
    private readonly levels: RequiredLevels,
    private readonly settings: Settings,
  ) {}

  async connectorOf({
    action_type,
    rollback_of,
  }: Pick<Action, 'action_type' | 'rollback_of'>): Promise<Connector | undefined> {
    if (rollback_of === undefined) return await this.registry.providerOf(action_type);
    const original = await this.actions.findById(rollback_of);
    return original && (await this.connectorOfRollback(original, action_type));
  }

  /** Returns the connector of the original action. The connector of another vendor would find no effect and report success. */
  async connectorOfRollback(
    { connector_id }: Pick<Action, 'connector_id'>,
    inverse: ActionTypeName,
  ): Promise<Connector | undefined> {
    return connector_id ? await this.registry.providerOf(inverse, connector_id) : undefined;
  }

  async send(call: Call): Promise<CallEnd> {
    const { row, connector } = call;
    const permit = row.permit as Permit;
    const note = (tx?: Tx) => row.note({ sent_to: connector.identity.id }, tx);
    const steps = connector.simulates ? {} : { noteSending: () => note(), reclaim: note };
    let gate: PermitGate | undefined;
    try {
      const { actionDeadlineMs } = this.settings;
      const outcome = await inTime(actionDeadlineMs, row.signal, async (signal) => {
        gate = new PermitGate(this.killSwitch, permit, signal, steps);
        return await this.execute(call, gate);
      });
      return endOf(outcome);
    } catch (error) {
      if (error instanceof LostClaims || row.signal.aborted) throw error;
      return await this.afterError(call, gate?.opened ?? false, error);
    }
  }

  /** Returns `unknown` if the vendor does not know the outcome of the action or does not answer. */
  async ask(call: Call): Promise<CallEnd | 'unknown'> {
    const { connector } = call;
    const outcome =
      connector.probe && (await this.question(call, QUESTION_MS, (sent) => connector.probe!(sent)));
    return outcome === undefined || outcome === 'unknown' ? 'unknown' : endOf(outcome);
  }

  /** If the vendor does not answer, the operation still counts as accepted. */
  async poll(call: Call): Promise<CallEnd> {
    const { handle, at } = call.state.accepted!;
    const ms = pollMs(at, presentTime(), this.settings.actionDeadlineMs);
    const poll = async (sent: ActionCall) => call.connector.poll?.(handle, sent);
    const outcome = await this.question(call, ms, poll);
    return outcome ? endOf(outcome) : { kind: 'accepted', handle };
  }

  /** If the vendor does not answer, the preview contains the reason. `undefined`: the connector has no preview. */
  async preview(connector: Connector, action: Action): Promise<ActionPreview | undefined> {
    try {
      return await inTime(QUESTION_MS, new AbortController().signal, async (signal) => {
        const gate = new PermitGate(this.killSwitch, undefined, signal);
        return connector.preview(await this.callOf(action, 1), gate);
      });
    } catch (error) {
      const isHeld = isKillSwitchActive(error);
      const why = isHeld ? 'the kill switch was on.' : causeOf(error)?.message;
      if (why === undefined) throw error;
      return { message: `What the action would change is not known: ${why}` };
    }
  }

  private async execute({ action, connector, row }: Call, gate: PermitGate): Promise<Outcome> {
    return await connector.execute(await this.callOf(action, row.fence), gate);
  }

  private async question<T>(
    { action, row }: Call,
    ms: number,
    ask: (call: ActionCall) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await inTime(ms, row.signal, async () => ask(await this.callOf(action, row.fence)));
    } catch (error) {
      if (row.signal.aborted) throw error;
      this.warn(action, error);
      return undefined;
    }
  }

  /** @param attempt fence of the work, which counts the attempts; shown in the logs of the vendor */
  private async callOf(action: Action, attempt: number): Promise<ActionCall> {
    const { id, action_type, parameters, rollback_of } = action;
    const original = rollback_of && (await this.actions.findById(rollback_of));
    return {
      actionId: shownActionId(id),
      attempt,
      type: action_type,
      parameters,
      mayTarget: (name) => this.levels.mayTarget(action, name),
      sender: reportedSender(action),
      undoes: original ? original.result?.data : undefined,
    };
  }

  private async afterError(call: Call, left: boolean, error: unknown): Promise<CallEnd> {
    const { action, connector, state } = call;
    const wasSent = state.sent_to !== undefined;
    const sent = wasSent || left;
    const idempotent = connector.idempotent(action.action_type);
    const isHeld = isKillSwitchActive(error);
    const isStopped = isHeld || error instanceof PermitLapsed;
    if ((isStopped || (!left && isDatabaseUnavailable(error))) && (!left || idempotent)) {
      return { kind: 'stopped', sent, isHeld };
    }
    const cause = causeOf(error);
    if (cause === undefined) this.warn(action, error);
    const message = `${connector.identity.name}: ${cause?.message ?? 'The call failed with an error.'}`;
    const kind = cause?.kind ?? 'stopped';
    if (kind === 'unreachable' && !wasSent) {
      const result = resultOfLoss({ kind, message, sent: false, idempotent });
      return { kind: 'ended', result };
    }
    const known = sent ? await this.ask(call) : 'unknown';
    if (known !== 'unknown') return known;
    const isLookUp = actionType(action.action_type).category === 'intelligence';
    return { kind: 'ended', result: resultOfLoss({ kind, message, sent, idempotent, isLookUp }) };
  }

  private warn({ id }: Action, err: unknown): void {
    this.log.warn({ err, action: shownActionId(id) }, 'A call to a connector failed.');
  }
}

/** Stops waiting at the deadline, even if the connector ignores the signal. */
async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  return await withDeadline(ms, signal, async (over) => {
    try {
      return await unlessAborted(over, work(over));
    } catch (error) {
      if (!over.aborted || signal.aborted) throw error;
      throw new OutcomeUnknownError(`The call took longer than ${ms} ms.`, 'timeout');
    }
  });
}

function endOf(outcome: Outcome): CallEnd {
  return outcome.kind === 'accepted'
    ? { kind: 'accepted', handle: outcome.handle }
    : { kind: 'ended', result: resultOf(outcome) };
}

/** Returns `undefined` for an error that the vendor did not cause. */
function causeOf(error: unknown): Pick<Loss, 'kind' | 'message'> | undefined {
  if (error instanceof OutcomeUnknownError) return { kind: error.reason, message: error.message };
  if (error instanceof UnreachableError) return { kind: 'unreachable', message: error.message };
  return undefined;
}
