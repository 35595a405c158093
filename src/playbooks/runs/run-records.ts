import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { type Action, shownActionId, SYSTEM } from '../../actions/action.js';
import { AuditLog } from '../../audit/audit-log.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { presentTime } from '../../platform/clock.js';
import { Statements } from '../../platform/database/statements.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { DomainEvents, kindOfHandler } from '../../platform/work/domain-events.js';
import { AUTO_RUNS, outcomeOf, type PlaybookRun, type StepChange, turnOf } from './playbook-run.js';
import { RUN_OUTCOMES } from './runs.dto.js';
import { OPEN_STATUSES, RunsRepository } from './runs.repository.js';

const FAILURE_CAUSES = ['expression', 'action'] as const;

@Injectable()
export class RunRecorder implements OnModuleInit {
  private readonly log = new Logger('Playbooks');

  constructor(
    readonly audit: AuditLog,
    readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly runs: RunsRepository,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('playbook_runs_total')
    private readonly total: Counter<'automatic' | 'outcome'>,
    @InjectMetric('playbook_steps_failed_total')
    private readonly failedSteps: Counter<'automatic' | 'cause'>,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.total, { automatic: ['true', 'false'], outcome: RUN_OUTCOMES });
    beginAtZero(this.failedSteps, { automatic: ['true', 'false'], cause: FAILURE_CAUSES });
    this.gauges.register('playbook_runs', async () => {
      const counts = await this.runs.openCounts();
      return OPEN_STATUSES.map((status) => [{ status }, counts[status]] as const);
    });
    const oldest = async () => (await this.runs.openCounts()).oldest_due_seconds;
    this.gauges.register('playbook_runs_oldest_due_seconds', oldest);
    this.components.addDetails('jobs', async () => {
      return { playbook_runs_due: (await this.runs.openCounts()).due };
    });
  }

  async started(tx: Tx, run: PlaybookRun): Promise<void> {
    const { automatic, variables, requested_by } = run;
    const on_behalf_of = run.on_behalf_of ?? undefined;
    const starts_at = turnOf(run)?.toISOString();
    const summary =
      starts_at === undefined
        ? `Started ${named(run)}.`
        : `Waits to run ${named(run)}, because PLAYBOOK_RUNS_PER_HOUR is reached. The run starts at ${starts_at}, or later if runs for more severe incidents come first.`;
    const details = { automatic, on_behalf_of, variables, starts_at };
    await record(tx, this, run, 'started', requested_by, summary, details);
  }

  async ended(tx: Tx, run: PlaybookRun, by: string): Promise<void> {
    await recordEnd(tx, this, run, by);
    afterCommit(tx, () => {
      const outcome = outcomeOf(run)!;
      this.total.inc({ automatic: String(run.automatic), outcome });
      // Logs failures of automatic runs only. For any other run, the response reports the failure.
      if (!run.automatic || (outcome !== 'failed' && outcome !== 'partial')) return;
      const { id: playbook_run, playbook_name: playbook, incident_id: incident } = run;
      const text = 'Steps of an automatic playbook run failed.';
      this.log.warn({ playbook_run, playbook, incident, outcome }, text);
    });
  }

  async stepsFailed(
    tx: Tx,
    run: PlaybookRun,
    steps: readonly StepChange[],
    incident?: Pick<LockedIncident, 'title' | 'severity'>,
  ): Promise<void> {
    const { playbook_name: playbook, playbook_version, automatic, incident_id } = run;
    for (const { name: step, error: message = 'It failed.', action_id, status } of steps) {
      if (status !== 'failed') continue;
      const payload = {
        ...{ playbook, playbook_version, step, message, automatic },
        action_id: action_id && shownActionId(action_id),
        incident_id: incident_id ?? undefined,
        incident_title: incident?.title,
        severity: incident?.severity,
      };
      const subject = { type: 'playbook_run', id: run.id };
      await this.events.record(tx, { type: 'playbook.step_failed', subject, payload });
      const summary = `Step ${step} of ${named(run)} failed: ${message}`;
      await tell(tx, this, run, 'playbook_step_failed', SYSTEM, summary);
      const cause: (typeof FAILURE_CAUSES)[number] = action_id ? 'action' : 'expression';
      afterCommit(tx, () => this.failedSteps.inc({ automatic: String(automatic), cause }));
    }
  }

  /** Adds a timeline entry for an action of another incident. The incident's own actions already have entries. */
  async sharedAction(tx: Tx, run: PlaybookRun, step: string, action: Action): Promise<void> {
    if (action.incident_id === run.incident_id) return;
    const { action_type, status, requested_by, incident } = action;
    const id = shownActionId(action.id);
    const of = incident ? ` for ${incident.incident_number}` : '';
    const state = status === 'pending_approval' ? 'waits for approval' : `is ${status}`;
    const summary = `Step ${step} of ${named(run)} uses the existing action ${action_type} (${id}), which ${requested_by} requested${of}. The action ${state}.`;
    await tell(tx, this, run, 'playbook_step_shared', SYSTEM, summary, { type: 'action', id });
  }
}

interface Records {
  readonly audit?: AuditLog | undefined;
  readonly timeline: IncidentTimeline;
}

const ENDED = { completed: 'Completed', failed: 'Could not complete', cancelled: 'Cancelled' };

async function recordEnd(tx: Tx, records: Records, run: PlaybookRun, by: string): Promise<void> {
  const { steps_completed, steps_failed, steps_total } = run;
  const status = run.status as keyof typeof ENDED;
  const failures = steps_failed > 0 ? `${steps_failed} of ${steps_total} steps failed.` : undefined;
  const reason = run.error ?? (status === 'completed' ? failures : undefined);
  const summary = `${ENDED[status]} ${named(run)}${reason === undefined ? '.' : `: ${reason}`}`;
  const details = { error: run.error ?? undefined, steps_completed, steps_failed, steps_total };
  await record(tx, records, run, status, by, summary, details);
}

async function record(
  tx: Tx,
  records: Records,
  run: PlaybookRun,
  change: 'started' | keyof typeof ENDED,
  actor: string,
  summary: string,
  more: object,
): Promise<void> {
  const { id, playbook_id, playbook_name: playbook, playbook_version: version } = run;
  const details = { playbook_id, playbook, version, incident_id: run.incident_id ?? undefined };
  const [action, subject] = [`playbook.run_${change}` as const, { type: 'playbook_run', id }];
  await records.audit?.record(tx, { actor, action, subject, details: { ...details, ...more } });
  await tell(tx, records, run, `playbook_${change}`, actor, summary);
}

async function tell(
  tx: Tx,
  { timeline }: Records,
  { id, incident_id: incidentId }: PlaybookRun,
  event: string,
  actor: string,
  summary: string,
  subject = { type: 'playbook_run', id },
): Promise<void> {
  if (incidentId !== null) await timeline.add(tx, { incidentId, event, actor, summary, subject });
}

function named({ playbook_name, playbook_version }: PlaybookRun): string {
  return `the playbook ${playbook_name} (version ${playbook_version})`;
}

const RESTORED =
  'The database was restored from a backup. The next steps may have been taken after the backup.';

/** After a restore, cancels open runs and waiting automatic runs, because both may have continued after the backup. */
export async function cancelRunsOverRestore(
  tx: Tx,
  timeline: IncidentTimeline,
  audit?: AuditLog,
): Promise<PlaybookRun[]> {
  const waiting = 'delete from work where kind = $1 and died_at is null';
  await tx.query(waiting, [kindOfHandler(AUTO_RUNS)]);
  const repository = new RunsRepository(new Statements(tx.dataSource));
  const runs = await repository.cancel(tx, 'all', null, RESTORED, new Date(presentTime()));
  for (const run of runs) await recordEnd(tx, { audit, timeline }, run, SYSTEM);
  return runs;
}
