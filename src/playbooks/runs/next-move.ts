import { type ActionResult, hasEnded, type Parameters } from '../../actions/action.js';
import { endOf } from '../../actions/execution/execution-rules.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { shownStart } from '../../platform/text.js';
import type { Decision } from '../language/decide-step.js';
import type { StepOutcome } from '../language/playbook-definition.js';
import type { Outcomes } from '../language/step-context.js';
import type { PlaybookStep } from '../playbook.js';
import {
  type EndedStatus,
  isOpen,
  type OpenStatus,
  type ReachedStep,
  type StepAction,
} from './playbook-run.js';

/** Says what the steps of one run are to do, by their positions. */
export interface StepDecider {
  /** The level that the action of each step is asked to be approved at, whatever it needs by itself. */
  readonly askedLevels: readonly ApprovalLevel[];
  decide(position: number, outcomes: Outcomes): Promise<Decision>;
  /** Decides as if the condition of the step were true. */
  decideUnconditionally(position: number, outcomes: Outcomes): Promise<Decision>;
}

/** A step that has begun, as far as it matters for what comes after it. */
export type TakenStep = Pick<ReachedStep, 'position' | 'name' | 'status' | 'error' | 'action'>;

/** A step that has come to its end. */
export interface SettledStep {
  readonly position: number;
  readonly name: string;
  readonly status: 'completed' | 'failed' | 'skipped' | 'cancelled';
  readonly actionId?: string;
  readonly error?: string;
}

export type NextThing =
  | {
      readonly kind: 'act';
      readonly position: number;
      readonly step: PlaybookStep;
      readonly parameters: Parameters;
      readonly askedLevel: ApprovalLevel;
    }
  | { readonly kind: 'wait'; readonly status: OpenStatus }
  | { readonly kind: 'end'; readonly status: EndedStatus; readonly error?: string };

/** How a run goes on: what has come to its end since it moved last, and then the one thing to do. */
export interface Move {
  readonly settled: readonly SettledStep[];
  readonly next: NextThing;
}

/** The next moves, at least one. Each but the last begins an action. */
export type ForeseenMoves = readonly [...Move[], Move];

const LONGEST_ERROR = 1_000;
/** Bounds the transaction that carries the moves out. */
const MOST_FORESEEN = 10;

/** Says how a run goes on that has come to these steps. It changes nothing, so a dry run and a real one ask the same. */
export async function nextMove(
  steps: readonly PlaybookStep[],
  reached: readonly TakenStep[],
  decider: StepDecider,
): Promise<Move> {
  const settled: SettledStep[] = [];
  const outcomes = new Map<string, StepOutcome>();
  const stands = reached.filter((one) => !(isOpen(one) && isRefusedElsewhere(one)));
  for (const one of stands) {
    const ended = isOpen(one) ? settledBy(one) : undefined;
    if (isOpen(one) && !ended) {
      return { settled, next: { kind: 'wait', status: statusWhile(one.action) } };
    }
    if (ended) settled.push(ended);
    outcomes.set(one.name, outcomeOf(ended ?? one, one.action));
    if (ended && stops(steps[one.position]!, ended)) return { settled, next: failed(ended) };
  }
  for (let position = stands.length; position < steps.length; position += 1) {
    const step = steps[position]!;
    const decision = await decider.decide(position, Object.fromEntries(outcomes));
    if (decision.kind === 'run') {
      const { parameters } = decision;
      const askedLevel = decider.askedLevels[position]!;
      return { settled, next: { kind: 'act', position, step, parameters, askedLevel } };
    }
    const ended = settledWithout(position, step, decision);
    settled.push(ended);
    if (stops(step, ended)) return { settled, next: failed(ended) };
    outcomes.set(step.name, outcomeOf(ended));
  }
  return { settled, next: { kind: 'end', status: 'completed' } };
}

/**
 * The next moves of a run, as far as they are certain if no action of others takes the place of one of them and nobody has to approve
 * them: `resultOf` is the result of an action that its connector only computes.
 */
export async function foreseenMoves(
  steps: readonly PlaybookStep[],
  reached: readonly TakenStep[],
  decider: StepDecider,
  resultOf: (step: PlaybookStep) => ActionResult | undefined,
): Promise<ForeseenMoves> {
  const taken = new Map(reached.map((step) => [step.position, step]));
  const earlier: Move[] = [];
  for (;;) {
    const inOrder = [...taken.values()].toSorted((one, other) => one.position - other.position);
    const move = await nextMove(steps, inOrder, decider);
    const { settled, next } = move;
    const result = next.kind === 'act' ? resultOf(next.step) : undefined;
    if (next.kind !== 'act' || !result || earlier.length === MOST_FORESEEN) {
      return [...earlier, move];
    }
    earlier.push(move);
    for (const one of settled) taken.set(one.position, { ...taken.get(one.position), ...one });
    const { position, parameters, step } = next;
    const action = { id: '', action_type: step.action, status: endOf(result), parameters, result };
    taken.set(position, { position, name: step.name, status: 'running', action });
  }
}

/**
 * What was decided about another incident says nothing about this one: the step asks for an action of its own. That nobody decided in
 * time holds for all: else one approval after the other would expire.
 */
function isRefusedElsewhere({ action }: TakenStep): boolean {
  if (action?.status !== 'rejected' || !action.borrowed) return false;
  return action.borrowed.elsewhere && action.rejection_code !== 'expired';
}

/** Undefined while its action has not ended. */
function settledBy({ position, name, action }: TakenStep): SettledStep | undefined {
  if (!action || !hasEnded(action)) return undefined;
  const ended = { position, name, actionId: action.id };
  if (action.status === 'completed') return { ...ended, status: 'completed' };
  return { ...ended, status: 'failed', error: shownStart(messageOf(action), LONGEST_ERROR) };
}

function settledWithout(
  position: number,
  { name }: PlaybookStep,
  decision: Exclude<Decision, { kind: 'run' }>,
): SettledStep {
  if (decision.kind === 'skip') return { position, name, status: 'skipped' };
  const error = shownStart(decision.message, LONGEST_ERROR);
  return { position, name, status: 'failed', error };
}

function stops({ on_error }: PlaybookStep, { status }: SettledStep): boolean {
  return status === 'failed' && on_error === 'stop';
}

function failed({ name, error }: SettledStep): NextThing {
  return { kind: 'end', status: 'failed', error: `The step ${name} failed: ${error}` };
}

/** An action that was rejected has no result of its own, and a step without an action did not work either. */
function outcomeOf(
  { status, error = '' }: Pick<TakenStep, 'status' | 'error'>,
  action?: StepAction,
): StepOutcome {
  if (status === 'skipped') return {};
  return { result: action?.result ?? { success: false, message: error } };
}

function messageOf({ status, result, rejected_by, rejection_reason }: StepAction): string {
  if (status === 'rejected') return `Rejected by ${rejected_by}: ${rejection_reason}`;
  return result?.message ?? 'The action failed.';
}

function statusWhile(action: StepAction | undefined): OpenStatus {
  return action?.status === 'pending_approval' ? 'waiting_approval' : 'running';
}
