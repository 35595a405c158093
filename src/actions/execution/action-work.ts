import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { presentTime } from '../../platform/clock.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { presentSpan } from '../../platform/tracing/tracing.js';
import { AgainOutcome, type Claimed, type Kind, type NewWork } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { type Action, hasEnded, shownActionId, SYSTEM } from '../action.js';
import { Actions } from '../actions.js';
import { ActionEndings, type Ending } from './action-endings.js';
import { type Call, type CallEnd, ConnectorCalls } from './connector-calls.js';
import {
  type CallState,
  endOf,
  failed,
  nextStep,
  noConnector,
  QUESTION_MS,
  restMs,
  resultOfLoss,
} from './execution-rules.js';

export interface StartedAction extends Pick<NewWork, 'span'> {
  readonly action: Action;
  readonly connector: Connector;
}

type Outcome = Ending | undefined;

const KIND = 'action';
/** Maximum concurrent calls, and questions, per connector and replica. Excludes calls that a request waits for. */
export const MOST_PER_CONNECTOR = 8;
/** Maximum duration of a request beyond the time that it waits for its action. */
const GRACE_MS = 5_000;
/** Pause before the next attempt, if the database or an expired permit stopped the previous attempt. */
const STOPPED_MS = 500;
/** Time limit of an attempt beyond its call: for questions about the outcome, and for statements. */
const TIME_BESIDE_CALL_MS = 2 * QUESTION_MS;

const callLane = (connectorId: string): string => `${KIND}.${connectorId}`;
const askLane = (connectorId: string): string => `ask.${connectorId}`;

/** Each connector has two lanes: one for calls, which the kill switch stops, and one for questions about outcomes. */
@Injectable()
export class ActionWork implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly calls: ConnectorCalls,
    private readonly endings: ActionEndings,
    private readonly actions: Actions,
    private readonly registry: ConnectorRegistry,
    private readonly killSwitch: KillSwitch,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const { actionLeaseMs, actionDeadlineMs } = this.settings;
    const kind: Kind<unknown, Outcome> = {
      name: KIND,
      hasLanes: true,
      places: MOST_PER_CONNECTOR,
      leaseMs: actionLeaseMs,
      timeLimitMs: actionDeadlineMs + TIME_BESIDE_CALL_MS,
      mostAttempts: Infinity,
      gate: (tx) => this.killSwitch.permitIfOff(tx),
      one: (row) => this.attempt(row),
      write: async (tx, ended) => {
        await this.endings.endAll(
          tx,
          ended.flatMap(({ result }) => result ?? []),
        );
      },
    };
    this.work.define(kind);
    this.work.define({ ...kind, name: 'ask', gate: undefined });
  }

  get answeredWithinMs(): number {
    return this.settings.actionWaitMs + GRACE_MS;
  }

  async add(tx: Tx, started: readonly StartedAction[]): Promise<void> {
    await this.work.add(tx, { name: KIND }, ...started.map(newWork));
  }

  /** Begins right after the commit. Each returned function waits for the first attempt, at most ACTION_WAIT_MS. */
  async begin(
    tx: Tx,
    started: readonly StartedAction[],
    permit: Permit,
  ): Promise<ReadonlyMap<string, () => Promise<Action>>> {
    if (started.length === 0) return new Map();
    const attempts = await this.work.addClaimed(tx, { name: KIND }, started.map(newWork), permit);
    const ended = async ({ action }: StartedAction): Promise<Action> => {
      await attempts.get(action.id);
      return (await this.actions.findById(action.id)) ?? action;
    };
    const { actionWaitMs } = this.settings;
    const waits = (one: StartedAction) => () => within(actionWaitMs, ended(one), () => one.action);
    return new Map(started.map((one) => [one.action.id, waits(one)]));
  }

  private async attempt(row: Claimed): Promise<Outcome | AgainOutcome<Outcome>> {
    const action = await this.actions.findById(row.ref);
    if (!action || hasEnded(action)) return undefined;
    const span = presentSpan();
    span?.rename(`action ${action.action_type}`);
    const outcome = await this.step(row, action);
    const result = outcome instanceof AgainOutcome ? undefined : outcome?.result;
    span?.note({
      'action.id': shownActionId(action.id),
      'incident.id': action.incident_id,
      'action.status': result ? endOf(result) : 'pending',
      'error.type': result?.code,
    });
    return outcome;
  }

  private async step(row: Claimed, action: Action): Promise<Outcome | AgainOutcome<Outcome>> {
    const state = (row.state ?? {}) as CallState;
    const { sent_to } = state;
    const called = sent_to === undefined ? undefined : await this.registry.find(sent_to);
    const provider = await this.calls.connectorOf(action);
    const step = nextStep(action, state, row.attempt, { called, provider });
    if (step === 'give up') return giveUp(action, state, provider);
    if (step === 'send') {
      if (action.incident_id && !action.incident) {
        return sent_to ? { ...giveUp(action, state, provider), by: SYSTEM } : { action };
      }
      const lane = callLane(provider!.identity.id);
      if (row.permit === undefined) return again(0, { lane });
      const call = { row, action, state, connector: provider! };
      return this.after(call, await this.calls.send(call));
    }
    const since = state.asked_since ?? presentTime();
    const lane = askLane(called!.identity.id);
    if (row.lane !== lane) return again(0, { lane, state: { ...state, asked_since: since } });
    const call = { row, action, state, connector: called! };
    if (step === 'poll') return this.after(call, await this.calls.poll(call));
    // With many questions to a hanging vendor, an action could wait longer than its lease.
    const isLate = presentTime() - since > this.settings.actionLeaseMs;
    const known = isLate ? 'unknown' : await this.calls.ask(call);
    if (known !== 'unknown') return this.after(call, known);
    const unknown = { sent_to, is_unknown: true } as const;
    const next = nextStep(action, unknown, row.attempt, { called, provider });
    if (next === 'give up') return giveUp(action, unknown, provider);
    return again(0, { lane: callLane(provider!.identity.id), state: unknown });
  }

  private after({ action, connector, state }: Call, end: CallEnd): Outcome | AgainOutcome<never> {
    const { id: connectorId } = connector.identity;
    if (end.kind === 'ended') return { action, connectorId, result: end.result };
    if (end.kind === 'stopped') {
      const stopped = end.sent ? { sent_to: connectorId } : {};
      const options = { lane: callLane(connectorId), state: stopped };
      return end.isHeld ? again(0, options) : again(STOPPED_MS, options, true);
    }
    const { actionDeadlineMs } = this.settings;
    const at = state.accepted?.at ?? presentTime();
    const inMs = restMs(at, presentTime(), actionDeadlineMs);
    if (inMs > 0) {
      const accepted = { sent_to: connectorId, accepted: { handle: end.handle, at } };
      return again(inMs, { lane: askLane(connectorId), state: accepted });
    }
    const message = `The vendor accepted the action and did not finish it within ${actionDeadlineMs} ms.`;
    return { action, connectorId, result: failed('outcome_unknown', message) };
  }
}

/** The permit must be the first lock, but a response must report other errors before `kill_switch_active`. */
export async function claimPermitLate(killSwitch: KillSwitch, tx: Tx): Promise<() => Permit> {
  try {
    const permit = await killSwitch.claimPermit(tx);
    return () => permit;
  } catch (error) {
    if (!isKillSwitchActive(error)) throw error;
    return () => {
      throw error;
    };
  }
}

function newWork({ action, connector, span }: StartedAction): NewWork {
  return { ref: action.id, lane: callLane(connector.identity.id), span };
}

function again(
  inMs: number,
  options: { readonly lane: string; readonly state?: CallState },
  countsAsAttempt = false,
): AgainOutcome {
  return new AgainOutcome({ inMs, countsAsAttempt, ...options });
}

function giveUp(action: Action, state: CallState, provider: Connector | undefined): Ending {
  const { sent_to, accepted } = state;
  if (sent_to === undefined && !provider) return { action, result: noConnector(action) };
  const message = accepted
    ? 'The vendor accepted the action, but its progress could not be read.'
    : 'The run of the action stopped before it had an outcome.';
  const loss = { kind: 'stopped', message, idempotent: false } as const;
  const result = resultOfLoss({ ...loss, sent: sent_to !== undefined });
  return { action, connectorId: sent_to, result };
}
