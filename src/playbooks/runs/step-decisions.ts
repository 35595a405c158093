import { Injectable } from '@nestjs/common';
import { higherLevel } from '../../actions/required-levels.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { decideStep } from '../language/decide-step.js';
import type { WrittenStep } from '../language/playbook-definition.js';
import { type RunInput, type Values, valuesOf, withOutcomes } from '../language/step-context.js';
import { stepsReadBy, stepsUnderVerdict } from '../language/steps-read.js';
import type { PlaybookDefinition, PlaybookStep } from '../playbook.js';
import type { StepDecider } from './next-move.js';
import type { PlaybookRun } from './playbook-run.js';
import type { WantedRun } from './runs.repository.js';

/** Decides about the steps of dry runs and of real runs. */
@Injectable()
export class StepDecisions {
  private readonly turns = new LoopTurns();

  /** @param raw_data of the incident of the run */
  async of(
    { variables, automatic, incident }: Pick<PlaybookRun, 'variables' | 'automatic' | 'incident'>,
    raw_data: string | null,
    definition: PlaybookDefinition,
  ): Promise<StepDecider> {
    const input = incident
      ? { variables, incident: { ...incident, raw_data: raw_data! } }
      : { variables };
    return await this.decider(definition, automatic, input);
  }

  /** For a run that a person would start now. */
  async before({ playbook, incident, variables }: WantedRun): Promise<StepDecider> {
    return await this.decider(playbook.definition, false, { variables, incident });
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

  private async decider(
    definition: PlaybookDefinition,
    automatic: boolean,
    input: RunInput,
  ): Promise<StepDecider> {
    let values: Values | undefined;
    const deciding =
      (steps: readonly WrittenStep[]): StepDecider['decide'] =>
      (position, outcomes) =>
        this.turns.run(() => {
          values ??= valuesOf(input);
          return decideStep(steps, position, withOutcomes(values, outcomes));
        });
    const { steps } = definition;
    return {
      askedLevels: await this.levelsOf(definition, automatic),
      decide: deciding(steps),
      decideUnconditionally: deciding(steps.map((step) => ({ ...step, condition: undefined }))),
    };
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
