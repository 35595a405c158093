import { Injectable } from '@nestjs/common';
import { higherLevel } from '../../actions/required-levels.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { decideStep } from '../language/decide-step.js';
import type { WrittenStep } from '../language/playbook-definition.js';
import { type RunInput, type Values, valuesOf, withOutcomes } from '../language/step-context.js';
import { stepsReadBy, stepsUnderVerdict } from '../language/steps-read.js';
import type { PlaybookDefinition, PlaybookStep, PlaybookVersion } from '../playbook.js';
import type { StepDecider } from './next-move.js';
import type { PlaybookRunSummary } from './playbook-run.js';
import type { WantedPlaybookRun } from './run-requests.js';

/** Decides what a step is to do, in one way for dry runs and for real ones. */
@Injectable()
export class StepDecisions {
  private readonly turns = new LoopTurns();

  constructor(private readonly incidents: IncidentsService) {}

  /** For a run that was started. Throws NotFoundError when its incident was deleted. */
  async of(run: PlaybookRunSummary, { definition }: PlaybookVersion): Promise<StepDecider> {
    const { variables, automatic, incident: atStart } = run;
    if (!atStart) return await this.decider(definition, automatic, { variables });
    const { rawData } = await this.incidents.get(atStart.id);
    const incident = { ...atStart, rawData };
    return await this.decider(definition, automatic, { variables, incident });
  }

  /** For a run that a person would start now. */
  async before({ playbook, incident, variables }: WantedPlaybookRun): Promise<StepDecider> {
    return await this.decider(playbook.definition, false, { variables, incident });
  }

  /** The level that each step asks for, by its position. */
  async levelsOf(definition: PlaybookDefinition, automatic: boolean): Promise<ApprovalLevel[]> {
    return await this.turns.run(() => askedLevels(definition, automatic));
  }

  /** Whether an expression of the step reads what one of these steps came to. */
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

/** In an automatic run nothing happens on the word of a model alone: a person looks at it before, unless a manager trusts it. */
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
