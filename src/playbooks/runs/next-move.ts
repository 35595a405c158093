import { type ActionResult, hasEnded, type Parameters } from '../../actions/action.js';
import { endOf } from '../../actions/execution/execution-rules.js';
import { higherLevel } from '../../actions/required-levels.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { shownStart } from '../../platform/text.js';
import {
  type Decision,
  decideStep,
  type Outcomes,
  type Values,
  valuesOf,
  withOutcomes,
} from '../language/decide-step.js';
import { stepsUnderVerdict } from '../language/expression.js';
import type { PlaybookDefinition, PlaybookStep } from '../playbook.js';
import {
  isOpen,
  type PlaybookRunStatus,
  type ReachedStep,
  type StepAction,
  type StepChange,
  type WantedRun,
} from './playbook-run.js';

export interface StepDecider {
  readonly askedLevels: readonly ApprovalLevel[];
  /** With `ignoresCondition`, the condition of the step counts as true. */
  decide(position: number, outcomes: Outcomes, ignoresCondition?: boolean): Promise<Decision>;
}

/** Steps that have ended since the last move, and the next state of the run. */
export interface Move {
  readonly settled: readonly StepChange[];
  readonly next:
    | {
        readonly kind: 'act';
        readonly position: number;
        readonly step: PlaybookStep;
        readonly parameters: Parameters;
        readonly askedLevel: ApprovalLevel;
      }
    | {
        readonly kind: 'wait' | 'end';
        readonly status: PlaybookRunStatus;
        readonly error?: string;
        readonly void?: boolean;
      };
}

const LONGEST_ERROR = 1_000;
/** Maximum number of moves, which bounds the transaction that executes the moves. */
const MOST_FORESEEN = 10;

/**
 * Returns the next moves of a run that has reached these steps: at least one move, and as many as are certain if no action is
 * borrowed and no action needs an approval. Each move except the last begins an action. `resultOf`: result of an action that
 * its connector only simulates.
 */
export async function foreseenMoves(
  steps: readonly PlaybookStep[],
  reached: readonly ReachedStep[],
  decider: StepDecider,
  resultOf: (step: PlaybookStep) => ActionResult | undefined,
): Promise<Move[]> {
  const standing = reached.filter((one) => !(isOpen(one) && isRefusedElsewhere(one)));
  const takenAt = new Map(standing.map((one) => [one.position, one]));
  const outcomes = new Map<string, Outcomes[string]>();
  const moves: Move[] = [];
  let settled: StepChange[] = [];
  const endingWith = (next: Move['next']) => [...moves, { settled, next }];
  for (const [position, step] of steps.entries()) {
    const { name, action: action_type } = step;
    let taken = takenAt.get(position);
    let ended: StepChange | undefined;
    if (!taken) {
      const decision = await decider.decide(position, Object.fromEntries(outcomes));
      if (decision.kind === 'run') {
        const { parameters } = decision;
        const askedLevel = decider.askedLevels[position]!;
        const next = { kind: 'act', position, step, parameters, askedLevel } as const;
        const result = resultOf(step);
        if (!result || moves.length === MOST_FORESEEN) return endingWith(next);
        moves.push({ settled, next });
        settled = [];
        const own = { id: '', borrowed: false, elsewhere: false, status: endOf(result) };
        const action = { ...own, action_type, parameters, result };
        taken = { position, name, status: 'running', action };
      } else if (decision.kind === 'skip') {
        ended = { position, name, status: 'skipped' };
      } else {
        const error = shownStart(decision.message, LONGEST_ERROR);
        ended = { position, name, status: 'failed', error };
      }
    }
    if (taken && isOpen(taken)) {
      ended = settledBy(taken);
      const isPending = taken.action?.status === 'pending_approval';
      const status = isPending ? 'waiting_approval' : 'running';
      if (!ended) return endingWith({ kind: 'wait', status });
    }
    if (ended) settled.push(ended);
    if (ended?.status === 'failed' && step.on_error === 'stop') {
      const error = `The step ${name} failed: ${ended.error}`;
      return endingWith({ kind: 'end', status: 'failed', error });
    }
    outcomes.set(name, outcomeOf((ended ?? taken)!, taken?.action));
  }
  return endingWith({ kind: 'end', status: 'completed' });
}

/**
 * True if the action was rejected for another incident. Such a rejection does not apply to this incident, so the step requests
 * a new action. An expired approval does apply, because otherwise one approval after the other would expire.
 */
function isRefusedElsewhere({ action }: ReachedStep): boolean {
  if (action?.status !== 'rejected' || !action.borrowed) return false;
  return action.elsewhere && action.rejection_code !== 'expired';
}

function settledBy({ position, name, action }: ReachedStep): StepChange | undefined {
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

/** Returns the outcome of a step. A rejected action has no result, and a step without an action has no result either. */
function outcomeOf(
  { status, error }: Pick<ReachedStep, 'status' | 'error'>,
  action?: StepAction | null,
): Outcomes[string] {
  if (status === 'skipped') return {};
  return { result: action?.result ?? { success: false, message: error ?? '' } };
}

/** Dry runs and real runs alternate, so that they do not block the event loop. */
const turns = new LoopTurns();

export async function deciderOf(
  { playbook, ...input }: WantedRun,
  automatic = false,
): Promise<StepDecider> {
  const { steps } = playbook.definition;
  let values: Values | undefined;
  return {
    askedLevels: await levelsOf(playbook.definition, automatic),
    decide: (position, outcomes, ignoresCondition) =>
      turns.run(() => {
        values ??= valuesOf(input);
        return decideStep(steps, position, withOutcomes(values, outcomes), ignoresCondition);
      }),
  };
}

/**
 * Returns the minimum approval level of each step, by position. In an automatic run, a step that depends on the verdict of a
 * model needs an approval, unless a manager trusts the verdict.
 */
export async function levelsOf(
  { steps, trust_verdict: trusted }: PlaybookDefinition,
  automatic: boolean,
): Promise<ApprovalLevel[]> {
  return await turns.run<ApprovalLevel[]>(() => {
    const doubted = automatic && !trusted ? stepsUnderVerdict(steps) : new Set<string>();
    return steps.map(({ name, approval_level }) => {
      const asked = approval_level ?? 'none';
      return doubted.has(name) ? higherLevel(asked, 'analyst') : asked;
    });
  });
}
