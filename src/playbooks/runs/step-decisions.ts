import { higherLevel } from '../../actions/required-levels.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { decideStep, type Values, valuesOf, withOutcomes } from '../language/decide-step.js';
import { stepsReadBy, stepsUnderVerdict } from '../language/steps-read.js';
import type { PlaybookDefinition, PlaybookStep } from '../playbook.js';
import type { StepDecider } from './next-move.js';
import type { WantedRun } from './playbook-run.js';

/** Dry runs and real runs take turns, so that they do not block the event loop. */
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
 * Returns the minimum approval level of each step, by its position. In an automatic run, a step that depends on the verdict of a
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

/** Whether an expression of the step reads the outcome of one of these steps. */
export async function readsAny(step: PlaybookStep, names: ReadonlySet<string>): Promise<boolean> {
  if (names.size === 0) return false;
  return await turns.run(() => [...stepsReadBy(step)].some((name) => names.has(name)));
}
