import { type ActionResult, hasEnded, type Parameters } from '../../actions/action.js';
import { endOf } from '../../actions/execution/execution-rules.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { shownStart } from '../../platform/text.js';
import type { Decision, Outcomes } from '../language/decide-step.js';
import type { PlaybookStep } from '../playbook.js';
import {
  type EndedStatus,
  isOpen,
  type OpenStatus,
  type ReachedStep,
  type SettledStep,
  type StepAction,
} from './playbook-run.js';

/** Decides about the steps of one run, by their positions. */
export interface StepDecider {
  /** Minimum approval level of the action of each step. */
  readonly askedLevels: readonly ApprovalLevel[];
  /** With `ignoresCondition` the condition of the step counts as true. */
  decide(position: number, outcomes: Outcomes, ignoresCondition?: boolean): Promise<Decision>;
}

/** A step that has begun. */
export type TakenStep = Pick<ReachedStep, 'position' | 'name' | 'status' | 'error'> & {
  readonly action?: StepAction | null;
};

type NextThing =
  | {
      readonly kind: 'act';
      readonly position: number;
      readonly step: PlaybookStep;
      readonly parameters: Parameters;
      readonly askedLevel: ApprovalLevel;
    }
  | { readonly kind: 'wait'; readonly status: OpenStatus }
  | { readonly kind: 'end'; readonly status: EndedStatus; readonly error?: string };

/** The steps that have ended since the last move, and what follows. */
export interface Move {
  readonly settled: readonly SettledStep[];
  readonly next: NextThing;
}

/** The next moves, at least one. Each but the last begins an action. */
export type ForeseenMoves = readonly [...Move[], Move];

const LONGEST_ERROR = 1_000;
/** Bounds the transaction that carries the moves out. */
const MOST_FORESEEN = 10;

/** Returns the next move of a run that has reached these steps. A dry run uses it as well. */
export async function nextMove(
  steps: readonly PlaybookStep[],
  reached: readonly TakenStep[],
  decider: StepDecider,
): Promise<Move> {
  const settled: SettledStep[] = [];
  const outcomes = new Map<string, Outcomes[string]>();
  const stands = reached.filter((one) => !(isOpen(one) && isRefusedElsewhere(one)));
  for (const one of stands) {
    const ended = isOpen(one) ? settledBy(one) : undefined;
    if (isOpen(one) && !ended) {
      const isPending = one.action?.status === 'pending_approval';
      const status = isPending ? 'waiting_approval' : 'running';
      return { settled, next: { kind: 'wait', status } };
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
    const { name } = step;
    const ended: SettledStep =
      decision.kind === 'skip'
        ? { position, name, status: 'skipped' }
        : { position, name, status: 'failed', error: shownStart(decision.message, LONGEST_ERROR) };
    settled.push(ended);
    if (stops(step, ended)) return { settled, next: failed(ended) };
    outcomes.set(step.name, outcomeOf(ended));
  }
  return { settled, next: { kind: 'end', status: 'completed' } };
}

/**
 * Returns the next moves as far as they are certain if no action is borrowed and none needs an approval.
 *
 * @param resultOf result of an action that its connector only simulates
 */
export async function foreseenMoves(
  steps: readonly PlaybookStep[],
  reached: readonly TakenStep[],
  decider: StepDecider,
  resultOf: (step: PlaybookStep) => ActionResult | undefined,
  most = MOST_FORESEEN,
): Promise<ForeseenMoves> {
  const taken = new Map(reached.map((step) => [step.position, step]));
  const earlier: Move[] = [];
  for (;;) {
    const inOrder = [...taken.values()].toSorted((one, other) => one.position - other.position);
    const move = await nextMove(steps, inOrder, decider);
    const { settled, next } = move;
    const result = next.kind === 'act' ? resultOf(next.step) : undefined;
    if (next.kind !== 'act' || !result || earlier.length === most) {
      return [...earlier, move];
    }
    earlier.push(move);
    for (const one of settled) taken.set(one.position, { ...taken.get(one.position), ...one });
    const { position, parameters, step } = next;
    const own = { id: '', borrowed: false, elsewhere: false, status: endOf(result) };
    const action = { ...own, action_type: step.action, parameters, result };
    taken.set(position, { position, name: step.name, status: 'running', action });
  }
}

/**
 * A rejection for another incident does not apply to this incident, so the step requests an action of its own. An expired approval
 * does apply: otherwise one approval after the other would expire.
 */
function isRefusedElsewhere({ action }: TakenStep): boolean {
  if (action?.status !== 'rejected' || !action.borrowed) return false;
  return action.elsewhere && action.rejection_code !== 'expired';
}

/** `undefined` while the action of the step has not ended. */
function settledBy({ position, name, action }: TakenStep): SettledStep | undefined {
  if (!action || !hasEnded(action)) return undefined;
  const ended = { position, name, action_id: action.id };
  if (action.status === 'completed') return { ...ended, status: 'completed' };
  const { status, result, rejected_by, rejection_reason } = action;
  const message =
    status === 'rejected'
      ? `Rejected by ${rejected_by}: ${rejection_reason}`
      : (result?.message ?? 'The action failed.');
  return { ...ended, status: 'failed', error: shownStart(message, LONGEST_ERROR) };
}

function stops({ on_error }: PlaybookStep, { status }: SettledStep): boolean {
  return status === 'failed' && on_error === 'stop';
}

function failed({ name, error }: SettledStep): NextThing {
  return { kind: 'end', status: 'failed', error: `The step ${name} failed: ${error}` };
}

/** A rejected action has no result, and neither has a step without an action. */
function outcomeOf(
  { status, error }: Pick<TakenStep, 'status' | 'error'>,
  action?: StepAction | null,
): Outcomes[string] {
  if (status === 'skipped') return {};
  return { result: action?.result ?? { success: false, message: error ?? '' } };
}
