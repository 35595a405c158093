import { Injectable } from '@nestjs/common';
import type { ActionResult, RequiredLevel } from '../../actions/action.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import type { PlaybookStep } from '../playbook.js';
import { foreseenMoves, type StepDecider } from './next-move.js';
import type { WantedRun } from './playbook-run.js';
import type { DryRun, DryRunStepDto } from './runs.dto.js';
import { deciderOf, levelsOf, readsAny } from './step-decisions.js';

type Told = Pick<DryRunStepDto, 'decision' | 'parameters' | 'error'>;

/** The steps that would read it are undecided. */
const UNKNOWN: ActionResult = { success: true, message: '' };

/** Simulates a run with the decisions of a real run. Writes nothing and calls no vendor. */
@Injectable()
export class DryRuns {
  constructor(
    private readonly levels: RequiredLevels,
    private readonly registry: ConnectorRegistry,
  ) {}

  async of(wanted: WantedRun): Promise<DryRun> {
    const { definition } = wanted.playbook;
    const decider = await deciderOf(wanted);
    const told = await this.rehearse(definition.steps, decider);
    const available = await this.registry.availableTypes();
    const automaticLevels = definition.auto_run ? await levelsOf(definition, true) : [];
    const steps = definition.steps.map((step, position): DryRunStepDto => {
      const one = told[position] ?? { decision: 'not_reached' };
      const levelOf = (asked?: ApprovalLevel) => this.levelOf(step, one, asked, wanted);
      return {
        name: step.name,
        action: step.action,
        available: available.has(step.action),
        approval_level: levelOf(decider.askedLevels[position]),
        automatic_approval_level: levelOf(automaticLevels[position]),
        ...one,
      };
    });
    return { ...wanted, steps };
  }

  /** Takes the steps as a real run would. The result of each action is unknown. */
  private async rehearse(steps: readonly PlaybookStep[], decider: StepDecider): Promise<Told[]> {
    const begun = new Set<string>();
    /** Undecided steps by position, with their parameters if only the condition is unknown. */
    const undecided = new Map<number, Told>();
    const decide: StepDecider['decide'] = async (position, outcomes) => {
      const step = steps[position]!;
      if (!(await readsAny(step, begun))) {
        const decision = await decider.decide(position, outcomes);
        if (decision.kind === 'run') begun.add(step.name);
        return decision;
      }
      const decision = (await readsAny({ ...step, condition: undefined }, begun))
        ? undefined
        : await decider.decide(position, outcomes, true);
      const parameters = decision?.kind === 'run' ? decision.parameters : undefined;
      undecided.set(position, { decision: 'undecided', parameters });
      begun.add(step.name);
      return { kind: 'run', parameters: {} };
    };
    const told: Told[] = [];
    const moves = await foreseenMoves(steps, [], { ...decider, decide }, () => UNKNOWN, Infinity);
    for (const { settled, next } of moves) {
      for (const { position, status, error } of settled) {
        if (status === 'skipped') told[position] = { decision: 'skip' };
        if (status === 'failed') told[position] = { decision: 'error', error };
      }
      if (next.kind !== 'act') continue;
      const { position, parameters } = next;
      told[position] = undecided.get(position) ?? { decision: 'run', parameters };
    }
    return told;
  }

  /** `undefined` if the step has no action, or the action needs no approval. */
  private levelOf(
    { action: action_type, parameters: given }: PlaybookStep,
    { decision, parameters = given }: Told,
    askedLevel: ApprovalLevel | undefined,
    { incident }: WantedRun,
  ): RequiredLevel | undefined {
    if (!askedLevel || (decision !== 'run' && decision !== 'undecided')) return undefined;
    const level = this.levels.forRequest({ action_type, parameters, incident, askedLevel });
    return level === 'none' ? undefined : level;
  }
}
