import { Injectable } from '@nestjs/common';
import type { RequiredLevel } from '../../actions/action.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import type { Outcomes } from '../language/decide-step.js';
import { stepsReadBy } from '../language/expression.js';
import type { PlaybookStep } from '../playbook.js';
import { deciderOf, levelsOf, type StepDecider } from './next-move.js';
import type { WantedRun } from './playbook-run.js';
import type { DryRun, DryRunStepDto } from './runs.dto.js';

type Told = Pick<DryRunStepDto, 'decision' | 'parameters' | 'error'>;

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
    const available = await this.registry.availableTypes();
    const automaticLevels = definition.auto_run ? await levelsOf(definition, true) : [];
    const outcomes: Record<string, Outcomes[string]> = {};
    /** Steps whose outcome only a real run knows. */
    const unknown = new Set<string>();
    const steps: DryRunStepDto[] = [];
    let isOver = false;
    for (const [position, step] of definition.steps.entries()) {
      const { name, action, on_error } = step;
      const told: Told = isOver
        ? { decision: 'not_reached' }
        : await foretold(decider, step, position, outcomes, unknown);
      const { decision, error = '' } = told;
      isOver ||= decision === 'error' && on_error === 'stop';
      if (decision === 'run' || decision === 'undecided') unknown.add(name);
      outcomes[name] =
        decision === 'skip' ? {} : { result: { success: decision !== 'error', message: error } };
      const levelOf = (asked?: ApprovalLevel) => this.levelOf(step, told, asked, wanted);
      steps.push({
        name,
        action,
        available: available.has(action),
        approval_level: levelOf(decider.askedLevels[position]),
        automatic_approval_level: levelOf(automaticLevels[position]),
        ...told,
      });
    }
    return { ...wanted, steps };
  }

  /** `undefined` if the step has no action, or the action needs no approval. */
  private levelOf(
    { action: action_type, parameters: given }: PlaybookStep,
    { decision, parameters = given }: Told,
    askedLevel: ApprovalLevel | undefined,
    { incident }: WantedRun,
  ): RequiredLevel | undefined {
    if (!askedLevel || (decision !== 'run' && decision !== 'undecided')) return undefined;
    const wanted = { action_type, parameters, incident, approval_level: askedLevel };
    const level = this.levels.forRequest(wanted);
    return level === 'none' ? undefined : level;
  }
}

async function foretold(
  decider: StepDecider,
  step: PlaybookStep,
  position: number,
  outcomes: Outcomes,
  unknown: ReadonlySet<string>,
): Promise<Told> {
  const isUnknown = (of: PlaybookStep) => [...stepsReadBy(of)].some((name) => unknown.has(name));
  const isUndecided = isUnknown(step);
  if (isUnknown({ ...step, condition: undefined })) return { decision: 'undecided' };
  const decision = await decider.decide(position, outcomes, isUndecided);
  const parameters = decision.kind === 'run' ? decision.parameters : undefined;
  if (isUndecided) return { decision: 'undecided', parameters };
  return decision.kind === 'error'
    ? { decision: 'error', error: decision.message }
    : { decision: decision.kind, parameters };
}
