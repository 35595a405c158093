import { Injectable } from '@nestjs/common';
import { higherLevel } from '../../actions/required-levels.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { decideStep, type Values, valuesOf, withOutcomes } from '../language/decide-step.js';
import { stepsReadBy, stepsUnderVerdict } from '../language/steps-read.js';
import type { PlaybookDefinition, PlaybookStep } from '../playbook.js';
import type { StepDecider } from './next-move.js';
import type { WantedRun } from './playbook-run.js';

/** Decides about the steps of dry runs and of real runs, without blocking the event loop. */
@Injectable()
export class StepDecisions {
  private readonly turns = new LoopTurns();

  async of({ playbook, ...input }: WantedRun, automatic = false): Promise<StepDecider> {
    const { steps } = playbook.definition;
    let values: Values | undefined;
    return {
      askedLevels: await this.levelsOf(playbook.definition, automatic),
      decide: (position, outcomes, ignoresCondition) =>
        this.turns.run(() => {
          values ??= valuesOf(input);
          return decideStep(steps, position, withOutcomes(values, outcomes), ignoresCondition);
        }),
    };
  }

  /** Returns the minimum approval level of each step, by its position. */
  async levelsOf(definition: PlaybookDefinition, automatic: boolean): Promise<ApprovalLevel[]> {
    return await this.turns.run(() => askedLevels(definition, automatic));
  }

  /** Whether an expression of the step reads the outcome of one of these steps. */
  async readsAny(step: PlaybookStep, names: ReadonlySet<string>): Promise<boolean> {
    if (names.size === 0) return false;
    return await this.turns.run(() => [...stepsReadBy(step)].some((name) => names.has(name)));
  }
}

/** In an automatic run, a step that depends on the verdict of a model needs an approval, unless a manager trusts the verdict. */
function askedLevels(
  { steps, trust_verdict: trusted }: PlaybookDefinition,
  automatic: boolean,
): ApprovalLevel[] {
  const doubted = automatic && !trusted ? stepsUnderVerdict(steps) : new Set<string>();
  return steps.map(({ name, approval_level }) => {
    const asked: ApprovalLevel = approval_level ?? 'none';
    return doubted.has(name) ? higherLevel(asked, 'analyst') : asked;
  });
}
