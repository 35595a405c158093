import { Injectable } from '@nestjs/common';
import { higherLevel } from '../../actions/policy/approval-policy.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { decideStep } from '../language/decide-step.js';
import { stepsUnderVerdict } from '../language/verdict-readers.js';
import type { PlaybookStep, PlaybookVersion } from '../playbook.js';
import type { Decide, Decision, Outcomes } from './next-move.js';
import type { PlaybookRunSummary } from './playbook-run.js';
import type { WantedPlaybookRun } from './run-requests.js';

interface Inputs {
  readonly playbook: PlaybookVersion;
  readonly automatic: boolean;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly incident?: Incident;
}

/** Decides what a step is to do, in one way for dry runs and for real ones. */
@Injectable()
export class StepDecisions {
  constructor(private readonly incidents: IncidentsService) {}

  /** For a run that was started. Throws NotFoundError when its incident was deleted. */
  async of(run: PlaybookRunSummary, playbook: PlaybookVersion): Promise<Decide> {
    const { variables, automatic, incident: atStart } = run;
    if (!atStart) return decideWith({ playbook, automatic, variables });
    const { rawData } = await this.incidents.get(atStart.id);
    return decideWith({ playbook, automatic, variables, incident: { ...atStart, rawData } });
  }

  /** For a run that a person would start now. */
  before({ playbook, incident, variables }: WantedPlaybookRun): Decide {
    return decideWith({ playbook, automatic: false, variables, incident });
  }
}

function decideWith({ playbook, automatic, variables, incident }: Inputs): Decide {
  const { steps, trust_verdict: trusted } = playbook.definition;
  const doubted = automatic && !trusted ? stepsUnderVerdict(steps) : new Set<string>();
  return async (step, outcomes) => {
    const askedLevel = levelOf(step, doubted);
    return decisionOf(step, { incident, variables, steps: outcomes }, askedLevel);
  };
}

/** Nothing happens by itself on the word of a model: a person looks at it before. */
function levelOf(
  { name, approval_level }: PlaybookStep,
  doubted: ReadonlySet<string>,
): ApprovalLevel {
  const asked = approval_level ?? 'none';
  return doubted.has(name) ? higherLevel(asked, 'analyst') : asked;
}

function decisionOf(
  step: PlaybookStep,
  context: { incident?: Incident; variables: Inputs['variables']; steps: Outcomes },
  askedLevel: ApprovalLevel,
): Decision {
  const decided = decideStep(step, context);
  switch (decided.decision) {
    case 'run':
      return { kind: 'run', parameters: decided.parameters, askedLevel };
    case 'skip':
      return { kind: 'skip' };
    case 'fail': {
      const { field, message, position } = decided.problem;
      const at = position ? ` at character ${position.offset + 1}` : '';
      return { kind: 'error', message: `${field.slice(1)}${at}: ${message}` };
    }
  }
}
