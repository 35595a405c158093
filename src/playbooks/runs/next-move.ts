import type { ActionStatus } from '../../actions/action.js';
import type { ActionToCreate } from '../../actions/action-requests.js';
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
  type ReachedStep,
  type RunState,
  type StepAction,
  type StepChange,
  type WantedRun,
} from './playbook-run.js';

const STEP_STATUS = {
  pending: 'running',
  pending_approval: 'waiting_approval',
  completed: 'completed',
  failed: 'failed',
  rejected: 'failed',
} as const satisfies Record<ActionStatus, StepChange['status']>;

export interface StepDecider {
  readonly askedLevels: readonly ApprovalLevel[];
  decide(position: number, outcomes: Outcomes): Promise<Decision>;
}

export interface RequestedStep {
  readonly name: string;
  readonly wanted: Pick<ActionToCreate, 'action_type' | 'parameters' | 'approval_level'>;
}

export interface Progress {
  readonly steps: readonly StepChange[];
  readonly next: RunState;
}

export type Advance = AsyncGenerator<RequestedStep, Progress, ActionState>;

const LONGEST_ERROR = 1_000;

/** Advances a run to its end or an open action. Yields each step that needs an action; resume it with the action. */
export async function* advance(
  steps: readonly PlaybookStep[],
  reached: readonly ReachedStep[],
  decider: StepDecider,
): Advance {
  const outcomes: Record<string, Outcomes[string]> = {};
  const changes: StepChange[] = [];
  for (const [position, step] of steps.entries()) {
    const { name, action: action_type } = step;
    const taken = isRefusedElsewhere(reached[position]) ? undefined : reached[position];
    let action: ActionState | null | undefined = taken?.action;
    let change: StepChange | undefined;
    if (taken) {
      if (isOpen(taken)) change = { position, name, ...stateOf(action!) };
    } else {
      const { kind, parameters, message } = await decider.decide(position, { ...outcomes });
      if (kind === 'run') {
        const approval_level = decider.askedLevels[position];
        action = yield { name, wanted: { action_type, parameters: parameters!, approval_level } };
        change = { position, name, ...stateOf(action) };
      } else if (kind === 'skip') change = { position, name, status: 'skipped' };
      else change = { position, name, ...failedBy(message!) };
    }
    if (change) changes.push(change);
    const { status, error } = (change ?? taken)!;
    if (status === 'running' || status === 'waiting_approval') {
      return { steps: changes, next: { status } };
    }
    if (change && status === 'failed' && step.on_error === 'stop') {
      const next = { status, error: `The step ${name} failed: ${error}` } as const;
      return { steps: changes, next };
    }
    const result = action?.result ?? { success: false, message: error ?? '' };
    outcomes[name] = status === 'skipped' ? {} : { result };
  }
  return { steps: changes, next: { status: 'completed' } };
}

/** True if a person rejected the action for another incident. Excludes an expiry, which would happen again. */
function isRefusedElsewhere(step: ReachedStep | undefined): boolean {
  if (!step?.action || !isOpen(step)) return false;
  const { status, borrowed, elsewhere, rejection_code } = step.action;
  return status === 'rejected' && borrowed && elsewhere && rejection_code !== 'expired';
}

type ActionState = Pick<StepAction, 'status'> & Partial<StepAction>;

function stateOf(action: ActionState): Pick<StepChange, 'action_id' | 'status' | 'error'> {
  const { id: action_id, result, rejected_by, rejection_reason } = action;
  const status = STEP_STATUS[action.status];
  if (status !== 'failed') return { action_id, status };
  const message =
    action.status === 'rejected'
      ? `Rejected by ${rejected_by}: ${rejection_reason}`
      : (result?.message ?? 'The action failed.');
  return { action_id, ...failedBy(message) };
}

function failedBy(message: string) {
  return { status: 'failed', error: shownStart(message, LONGEST_ERROR) } as const;
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
    decide: (position, outcomes) =>
      turns.run(() => {
        values ??= valuesOf(input);
        return decideStep(steps, position, withOutcomes(values, outcomes));
      }),
  };
}

/** Returns the minimum level per step: an automatic step that depends on an untrusted verdict needs approval. */
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
