import type { RequiredLevel } from '../../actions/action.js';
import type { RequiredLevels } from '../../actions/required-levels.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import type { Outcomes } from '../language/decide-step.js';
import { stepsReadBy } from '../language/expression.js';
import type { PlaybookStep } from '../playbook.js';
import { deciderOf, levelsOf, type StepDecider } from './next-move.js';
import type { WantedRun } from './playbook-run.js';
import type { DryRun, DryRunStepDto } from './runs.dto.js';

type Told = Pick<DryRunStepDto, 'decision' | 'parameters' | 'error'>;

/** Simulates a run with the decisions of a real run. Writes nothing and calls no vendor. */
export async function dryRunOf(
  wanted: WantedRun,
  levels: RequiredLevels,
  available: ReadonlySet<string>,
): Promise<DryRun> {
  const { definition } = wanted.playbook;
  const decider = await deciderOf(wanted);
  const automaticLevels = definition.auto_run ? await levelsOf(definition, true) : [];
  const outcomes: Record<string, Outcomes[string]> = {};
  /** Steps whose outcome is known only in a real run. */
  const unknown = new Set<string>();
  const steps: DryRunStepDto[] = [];
  let isOver = false;
  for (const [position, step] of definition.steps.entries()) {
    const { name, action, on_error } = step;
    const told: Told = isOver
      ? { decision: 'not_reached' }
      : await foretold(decider, step, position, outcomes, unknown);
    const { decision, parameters = step.parameters, error = '' } = told;
    isOver ||= decision === 'error' && on_error === 'stop';
    const mayAct = decision === 'run' || decision === 'undecided';
    if (mayAct) unknown.add(name);
    outcomes[name] =
      decision === 'skip' ? {} : { result: { success: decision !== 'error', message: error } };
    const levelOf = (approval_level?: ApprovalLevel): RequiredLevel | undefined => {
      if (!approval_level || !mayAct) return undefined;
      const request = {
        action_type: action,
        parameters,
        incident: wanted.incident,
        approval_level,
      };
      const level = levels.forRequest(request);
      return level === 'none' ? undefined : level;
    };
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
