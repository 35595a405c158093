import type { ActionResult, Parameters } from '../../actions/action.js';
import { hasEnded } from '../../actions/action.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { shownStart } from '../../platform/text.js';
import type { PlaybookStep } from '../playbook.js';
import {
  type EndedStatus,
  isOpen,
  type OpenStatus,
  type ReachedStep,
  type StepAction,
} from './playbook-run.js';

/** What a step is to do, decided from its condition, its templates, and what the steps before it came to. */
export type Decision =
  | { readonly kind: 'run'; readonly parameters: Parameters; readonly askedLevel: ApprovalLevel }
  | { readonly kind: 'skip' }
  | { readonly kind: 'error'; readonly message: string };

/** By the names of the steps that are behind: what each came to. One that was skipped has no result. */
export type Outcomes = Readonly<Record<string, { readonly result?: ActionResult }>>;

export type Decide = (step: PlaybookStep, outcomes: Outcomes) => Promise<Decision>;

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

const LONGEST_ERROR = 1_000;

/** Says how a run goes on that has come to these steps. It changes nothing, so a dry run and a real one ask the same. */
export async function nextMove(
  steps: readonly PlaybookStep[],
  reached: readonly ReachedStep[],
  decide: Decide,
): Promise<Move> {
  const settled: SettledStep[] = [];
  const outcomes = new Map<string, Outcomes[string]>();
  for (const one of reached) {
    const ended = isOpen(one) ? settledBy(one) : undefined;
    if (isOpen(one) && !ended) {
      return { settled, next: { kind: 'wait', status: statusWhile(one.action) } };
    }
    if (ended) settled.push(ended);
    outcomes.set(one.name, outcomeOf(ended ?? one, one.action));
    if (ended && stops(steps[one.position]!, ended)) return { settled, next: failed(ended) };
  }
  for (let position = reached.length; position < steps.length; position += 1) {
    const step = steps[position]!;
    const decision = await decide(step, Object.fromEntries(outcomes));
    if (decision.kind === 'run') {
      const { parameters, askedLevel } = decision;
      return { settled, next: { kind: 'act', position, step, parameters, askedLevel } };
    }
    const ended = settledWithout(position, step, decision);
    settled.push(ended);
    if (stops(step, ended)) return { settled, next: failed(ended) };
    outcomes.set(step.name, outcomeOf(ended));
  }
  return { settled, next: { kind: 'end', status: 'completed' } };
}

/** Undefined while its action has not ended. */
function settledBy({ position, name, action }: ReachedStep): SettledStep | undefined {
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
  { status, error = '' }: Pick<ReachedStep, 'status' | 'error'>,
  action?: StepAction,
): Outcomes[string] {
  if (status === 'skipped') return {};
  return { result: action?.result ?? { success: false, message: error } };
}

function messageOf({ status, result, rejectedBy, rejectionReason }: StepAction): string {
  if (status === 'rejected') return `Rejected by ${rejectedBy}: ${rejectionReason}`;
  return result?.message ?? 'The action failed.';
}

function statusWhile(action: StepAction | undefined): OpenStatus {
  return action?.status === 'pending_approval' ? 'waiting_approval' : 'running';
}
