import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actionIdOf, isPerson, SYSTEM } from '../../actions/action.js';
import { ACTION_EVENTS } from '../../actions/action-records.js';
import { ActionRequests, type ActionToCreate } from '../../actions/action-requests.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { Incident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type DomainEvent, DomainEvents } from '../../platform/work/domain-events.js';
import type { Again, Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { isTriggeredBy } from '../playbook.js';
import { PlaybooksService } from '../playbooks.service.js';
import {
  advance,
  type Advance,
  deciderOf,
  type Progress,
  type RequestedStep,
} from './next-move.js';
import {
  AUTO_RUNS,
  isOpen,
  newRun,
  type PlaybookRun,
  RUN_WORK,
  type RunState,
  type StepChange,
  turnOf,
} from './playbook-run.js';
import { RunRecorder } from './run-records.js';
import { type OpenRun, type RunMove, RunsRepository } from './runs.repository.js';

const SET_SIZE = 32;
const HELD_MS = 2_000;

const ended = (next: RunState, steps: readonly StepChange[] = []) =>
  ({ done: true, value: { steps, next } }) as const;

const TOO_LATE = ended({
  status: 'cancelled',
  error: 'Its incident was resolved before it began.',
  void: true,
});
const BROKEN: RunState = {
  status: 'failed',
  error: 'The service could not continue the run; see its log.',
};

interface Moving {
  readonly run: OpenRun;
  readonly advance?: Advance;
  turn: IteratorResult<RequestedStep, Progress>;
}

@Injectable()
export class RunWork implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly events: DomainEvents,
    private readonly killSwitch: KillSwitch,
    private readonly playbooks: PlaybooksService,
    private readonly incidents: Incidents,
    private readonly registry: ConnectorRegistry,
    private readonly requests: ActionRequests,
    private readonly runs: RunsRepository,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.work.define({
      ...RUN_WORK,
      places: SET_SIZE,
      hasOwnGauges: true,
      inSet: (tx, rows) => this.continueAll(tx, rows),
      gaveUp: (tx, { ref }) => this.giveUp(tx, ref),
    });
    const { completed, failed, rejected, approved } = ACTION_EVENTS;
    const types = [completed, failed, rejected, approved];
    // The filter excludes an action that ended when it was created, because its run has already seen the end.
    const news = { types, where: '!exists($.at_once)' };
    this.events.inTransaction(news, 'playbook-runs', async (tx, events) => {
      const ids = events.map(({ subject }) => actionIdOf(subject.id));
      await this.work.add(tx, RUN_WORK, ...(await this.runs.waitingFor(tx, ids)));
    });
    const triaged = { types: [INCIDENT_EVENTS.triaged] };
    this.events.inTransaction(triaged, AUTO_RUNS, (tx, events) => this.startAll(tx, events));
  }

  /** Starts at most one run of each playbook version per incident and verdict, even if the event is repeated. */
  private async startAll(tx: Tx, triages: readonly DomainEvent[]): Promise<void> {
    const events = new Map(triages.toReversed().map((event) => [event.subject.id, event]));
    const incidents = await this.incidents.lockAllForUpdate(tx, [...events.keys()]);
    const open = [...incidents.values()].filter(({ status }) => status !== 'resolved');
    if (open.length === 0) return;
    const playbooks = await this.playbooks.autoRuns(tx);
    const limit = this.settings.playbookRunsPerHour;
    const now = this.clock.now();
    const wanted = open.flatMap((incident) => {
      const own = playbooks.filter(({ definition }) =>
        isTriggeredBy(definition.triggers, incident),
      );
      return own.map((playbook) => ({
        ...newRun({ playbook, incident, variables: playbook.definition.variables }, SYSTEM, now),
        automatic: true,
        classification: incident.verdict?.classification ?? '',
        on_behalf_of: verdictIsOf(incident, events.get(incident.id)!.payload),
      }));
    });
    const inserted = wanted.length > 0 ? await this.runs.insert(tx, wanted) : [];
    if (inserted.length === 0) return;
    const turns = new Map<string, Date | null>(inserted.map(({ id }) => [id, null]));
    const ofPlaybooks = limit > 0 ? Map.groupBy(inserted, (run) => run.playbook_id) : [];
    for (const [playbook, runs] of ofPlaybooks) {
      const newRuns = runs.map(({ id }) => id);
      for (const turn of await this.runs.giveTurns(tx, playbook, limit, newRuns, now)) {
        turns.set(turn.id, turn.starts_at);
      }
    }
    for (const run of inserted) {
      await this.recorder.started(tx, { ...run, starts_at: turns.get(run.id)! });
    }
    // If a waiting run gets a later turn, its work keeps the earlier due time. The work then detects that it is early.
    const added = [...turns].map(([ref, turn]) => ({ ref, dueAt: turn ?? undefined }));
    await this.work.add(tx, RUN_WORK, ...added);
  }

  private async continueAll(
    tx: Tx,
    rows: readonly Claimed[],
  ): Promise<ReadonlyMap<Claimed, Again>> {
    const again = new Map<Claimed, Again>();
    const rowOf = new Map(rows.map((row) => [row.ref, row]));
    const repeat = ({ id }: PlaybookRun, inMs: number) =>
      again.set(rowOf.get(id)!, { inMs, countsAsAttempt: false });
    const open = await this.runs.open(tx, [...rowOf.keys()]);
    for (const run of open) if (run.early_ms > 0) repeat(run, run.early_ms);
    let moving = await this.begin(
      tx,
      open.filter(({ early_ms }) => early_ms === 0),
    );
    const acting = moving.filter(({ turn }) => !turn.done);
    if (acting.length > 0 && !(await this.killSwitch.permitIfOff(tx))) {
      await this.work.slowLane(tx, RUN_WORK.name, HELD_MS, 0);
      for (const { run } of acting) repeat(run, 0);
      moving = moving.filter(({ turn }) => turn.done);
    }
    await this.carryOut(tx, moving);
    return again;
  }

  private async begin(tx: Tx, runs: readonly OpenRun[]): Promise<Moving[]> {
    const begun = runs.filter(({ has_steps }) => has_steps).map(({ id }) => id);
    const stepsOf = begun.length > 0 ? await this.runs.stepsOf(begun, tx) : () => [];
    const moving: Moving[] = [];
    for (const run of runs) {
      const { playbook, variables, automatic } = run;
      const incident = run.incident ? { ...run.incident, raw_data: run.raw_data! } : undefined;
      const decider = await deciderOf({ playbook, incident, variables }, automatic);
      const steps = advance(playbook.definition.steps, stepsOf(run.id), decider);
      moving.push({ run, advance: steps, turn: await steps.next() });
    }
    return moving;
  }

  private async carryOut(tx: Tx, moving: readonly Moving[]): Promise<void> {
    if (moving.length === 0) return;
    const incidentIds = moving.flatMap(({ run }) => run.incident_id ?? []);
    const incidents = await this.incidents.lockAllForShare(tx, incidentIds);
    const ids = moving.map(({ run }) => run.id);
    const open = new Set(await this.runs.lock(tx, 'runs', ids));
    const current = moving.filter(({ run: { id, incident_id } }) => {
      return open.has(id) && (incident_id === null || incidents.has(incident_id));
    });
    const connectorOf = await this.registry.providersIn(tx);
    const requestOf = ({ run, turn }: Moving): ActionToCreate => {
      const { wanted } = turn.value as RequestedStep;
      return {
        ...wanted,
        connector: connectorOf(wanted.action_type),
        incident: incidents.get(run.incident_id ?? ''),
        requested_by: `playbook:${run.playbook_name}`,
        playbook_run_id: run.id,
        on_behalf_of: run.automatic ? (run.on_behalf_of ?? undefined) : run.requested_by,
        authors: run.authors ?? undefined,
      };
    };
    for (const one of current) {
      const isLate = turnOf(one.run) && !one.run.has_steps;
      if (isLate && incidents.get(one.run.incident_id!)?.status === 'resolved') one.turn = TOO_LATE;
    }
    let acting = current.filter(({ turn }) => !turn.done);
    while (acting.length > 0) {
      const actions = await this.requests.createOrBorrow(tx, acting.map(requestOf));
      for (const [n, one] of acting.entries()) {
        const { name } = one.turn.value as RequestedStep;
        await this.recorder.sharedAction(tx, one.run, name, actions[n]!);
        one.turn = await one.advance!.next(actions[n]!);
      }
      acting = acting.filter(({ turn }) => !turn.done);
    }
    const moves = current.map(({ run, turn }) => moveOf(run, turn.value as Progress));
    if (moves.length > 0) await this.runs.store(tx, moves, this.clock.now());
    for (const { run, steps } of moves) {
      await this.recorder.stepsFailed(tx, run, steps, incidents.get(run.incident_id ?? ''));
      if (!isOpen(run)) await this.recorder.ended(tx, run, SYSTEM);
    }
  }

  private async giveUp(tx: Tx, id: string): Promise<void> {
    const [run] = await this.runs.open(tx, [id]);
    if (!run) return;
    const open = (await this.runs.stepsOf([id], tx))(id).filter(isOpen);
    const steps = open.map(({ position, name, action }) => {
      return { position, name, action_id: action?.id, status: 'cancelled' as const };
    });
    await this.carryOut(tx, [{ run, turn: ended(BROKEN, steps) }]);
  }
}

function moveOf(run: OpenRun, { steps, next }: Progress): RunMove {
  const count = (...statuses: readonly StepChange['status'][]) =>
    steps.filter(({ status }) => statuses.includes(status)).length;
  const steps_completed = run.steps_completed + count('completed', 'skipped');
  const steps_failed = run.steps_failed + count('failed');
  return { run: { ...run, error: null, ...next, steps_completed, steps_failed }, steps };
}

/** Returns the person who caused the verdict and must not approve the run's actions (APPROVAL_FOUR_EYES). */
function verdictIsOf(
  { verdict, verdict_by_person }: Incident,
  { triaged_by }: { readonly triaged_by?: string },
): string | null {
  const by = verdict && verdict_by_person ? verdict.decided_by : triaged_by;
  return by !== undefined && isPerson(by) ? by : null;
}
