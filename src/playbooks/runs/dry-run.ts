import { Injectable } from '@nestjs/common';
import { RequiredLevels } from '../../actions/policy/required-levels.js';
import type { Parameters } from '../../actions/action.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { stepsReadBy } from '../language/steps-read.js';
import type { PlaybookStep } from '../playbook.js';
import type { Decide, Decision, Outcomes } from './next-move.js';
import type { WantedPlaybookRun } from './run-requests.js';
import { StepDecisions } from './step-decisions.js';

/** `undecided`: it reads the result of a step that only a real run takes. `not_reached`: an error before it ends the run. */
export const DRY_DECISIONS = ['run', 'skip', 'undecided', 'error', 'not_reached'] as const;
export type DryDecision = (typeof DRY_DECISIONS)[number];

export interface DryStep {
  readonly step: PlaybookStep;
  readonly decision: DryDecision;
  readonly parameters?: Parameters;
  /** The level that its action would have to be approved at. */
  readonly level?: Exclude<ApprovalLevel, 'none'>;
  /** Whether an enabled connector provides its action. */
  readonly available: boolean;
  readonly error?: string;
}

export interface DryRun extends WantedPlaybookRun {
  readonly steps: readonly DryStep[];
}

/** Tells what a run would do now, by asking what the run would ask. It writes nothing and calls nobody. */
@Injectable()
export class DryRuns {
  constructor(
    private readonly decisions: StepDecisions,
    private readonly levels: RequiredLevels,
    private readonly registry: ConnectorRegistry,
  ) {}

  async of(wanted: WantedPlaybookRun): Promise<DryRun> {
    const decide = this.decisions.before(wanted);
    const available = await this.registry.availableTypes();
    const rehearsal = new Rehearsal(decide);
    const steps: DryStep[] = [];
    for (const step of wanted.playbook.definition.steps) {
      const told = await rehearsal.take(step);
      const provided = available.has(step.action);
      steps.push({ step, available: provided, ...this.withLevel(step, told, wanted) });
    }
    return { ...wanted, steps };
  }

  private withLevel(
    step: PlaybookStep,
    told: Told,
    { incident }: WantedPlaybookRun,
  ): Omit<DryStep, 'step' | 'available'> {
    if (told.kind === 'error') return { decision: told.kind, error: told.message };
    if (told.kind !== 'run') return { decision: told.kind };
    const { parameters, askedLevel } = told;
    const level = this.levels.forRequest({
      type: step.action,
      parameters,
      incidentSeverity: incident?.severity,
      askedLevel,
    });
    return { decision: 'run', parameters, ...(level !== 'none' && { level }) };
  }
}

type Told = Decision | { readonly kind: 'undecided' | 'not_reached' };

class Rehearsal {
  private readonly unknown = new Set<string>();
  private readonly outcomes = new Map<string, Outcomes[string]>();
  private over = false;

  constructor(private readonly decide: Decide) {}

  async take(step: PlaybookStep): Promise<Told> {
    if (this.over) return { kind: 'not_reached' };
    const told = this.readsUnknown(step)
      ? ({ kind: 'undecided' } as const)
      : await this.decide(step, Object.fromEntries(this.outcomes));
    if (told.kind === 'run' || told.kind === 'undecided') this.unknown.add(step.name);
    if (told.kind === 'skip') this.outcomes.set(step.name, {});
    if (told.kind === 'error') {
      this.over = step.on_error === 'stop';
      this.outcomes.set(step.name, { result: { success: false, message: told.message } });
    }
    return told;
  }

  private readsUnknown(step: PlaybookStep): boolean {
    return [...stepsReadBy(step)].some((name) => this.unknown.has(name));
  }
}
