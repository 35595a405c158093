import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../actions/action.js';
import type { Principal } from '../auth/principal.js';
import { INCIDENT_EVENTS, type TriageWantedPayload } from '../incidents/change-records.js';
import type { Incident } from '../incidents/incident.js';
import { Incidents } from '../incidents/incidents.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import { Clock } from '../platform/clock.js';
import { Settings } from '../platform/config/settings.js';
import { Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { isUuid, newId } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { type DomainEvent, DomainEvents } from '../platform/work/domain-events.js';
import { Work } from '../platform/work/work.js';
import { PlaybooksService } from '../playbooks/playbooks.service.js';
import { TokenMeter, TriageModel } from './model/triage-model.port.js';
import { type NewRun, TRIAGE, TriageRunsRepository } from './triage-runs.repository.js';
import { TriageWork, type Waiting } from './runs/triage-work.js';
import { ProviderState } from './runs/provider-state.js';
import { type Outcome, RunEndings } from './runs/run-endings.js';
import { type RunResult, TriageJudging } from './runs/triage-judging.js';
import { stillAnswers, type TriageRun, type TriageRunsQueryDto } from './triage-run.js';

type WantedRun = Pick<NewRun, 'incident_id' | 'force' | 'playbook'>;

interface Locked {
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly outcomeOf?: (run: TriageRun) => Outcome;
}

const GRACE_MS = 5_000;
const HANDLER = 'auto-triage';

const LOCAL = {
  gate: { send: () => Promise.reject(new Error('A local model must not send requests.')) },
  signal: new AbortController().signal,
  meter: new TokenMeter(),
};

/** Creates triage runs. A person's request takes over a waiting run. Local runs end in the creating transaction. */
@Injectable()
export class TriageService implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: Incidents,
    private readonly playbooks: PlaybooksService,
    private readonly killSwitch: KillSwitch,
    private readonly runs: TriageRunsRepository,
    private readonly endings: RunEndings,
    private readonly judging: TriageJudging,
    private readonly asked: TriageWork,
    private readonly provider: ProviderState,
    private readonly model: TriageModel,
    private readonly events: DomainEvents,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.events.inTransaction({ types: [INCIDENT_EVENTS.triageWanted] }, HANDLER, (tx, events) =>
      this.triageWanted(tx, events),
    );
  }

  /** Maximum time until a response: longer than the maximum time of a run. */
  get answeredWithinMs(): number {
    return this.settings.triageTimeoutMs + GRACE_MS;
  }

  /** Returns a completed run; a queued run if the caller does not wait (`later`) or the service was stopped. */
  async triage(
    caller: Principal,
    wanted: WantedRun,
    later: boolean,
    waiting: Waiting,
  ): Promise<TriageRun> {
    const { playbook, force } = wanted;
    if (playbook !== null && !(await this.playbooks.findEnabled(playbook))) {
      const message = 'playbook must be the name or id of an enabled playbook.';
      throw ValidationError.of('playbook', 'unknown_playbook', message);
    }
    const { id: incident_id, status } = await this.incidents.get(wanted.incident_id);
    const { open, completed } = (await this.runs.known([incident_id])).get(incident_id) ?? {};
    if (completed && !force && stillAnswers(completed, status)) return completed;
    if (this.model.unusable) throw this.model.unusable;
    if (open?.status === 'running') throw inProgress(open.id);
    const shortage = later ? undefined : await this.provider.shortage();
    if (shortage) throw shortage;
    const { asksOutside } = this.model;
    const added = this.newRun({ ...wanted, incident_id }, caller.name);
    let ended: Awaited<ReturnType<TriageWork['begin']>> | undefined;
    const run = await this.transactions.run<TriageRun>(
      async (tx) => {
        ended = undefined;
        const permit = asksOutside ? await this.killSwitch.claimPermit(tx) : undefined;
        const locked = await this.lock(tx, [added], !asksOutside && !later);
        const created = await this.createOrTakeOver(tx, added, locked);
        if (created.status === 'completed') return created;
        const error = locked.outcomeOf?.(created).error;
        if (error) throw new Error(error.message);
        await this.endings.requested(tx, [created], !later);
        if (later || !asksOutside) {
          return (await this.start(tx, [created], locked)).get(created.id) ?? created;
        }
        const hasWaited = created.id !== added.id;
        ended = await this.asked.begin(tx, created, { ...waiting, hasWaited }, permit!);
        return { ...created, status: 'running' };
      },
      caller,
      waiting.completed,
    );
    return (await ended?.()) ?? run;
  }

  async list(incidentId: string, query: TriageRunsQueryDto): Promise<Page<TriageRun>> {
    const { id } = await this.incidents.get(incidentId);
    return await this.runs.list(id, query);
  }

  async get(incidentId: string, id: string): Promise<TriageRun> {
    const incident = await this.incidents.get(incidentId);
    const run = isUuid(id) ? await this.runs.find(incident.id, id) : undefined;
    if (!run) throw new NotFoundError('Triage run');
    return run;
  }

  private async createOrTakeOver(tx: Tx, wanted: NewRun, locked: Locked): Promise<TriageRun> {
    const { incident_id: id, force, playbook } = wanted;
    const incident = locked.incidents.get(id);
    if (!incident) throw new NotFoundError('Incident');
    const { open, completed } = (await this.runs.known([id], tx)).get(id) ?? {};
    if (completed && !force && stillAnswers(completed, incident.status)) return completed;
    if (!open) return (await this.runs.insert(tx, [wanted]))[0]!;
    const { requested_by, provider } = wanted;
    const columns = {
      ...{ requested_by, provider },
      force: force || open.force,
      playbook: playbook ?? open.playbook,
    };
    const run = (await this.runs.change(tx, [{ id: open.id, columns }])).get(open.id);
    const waiting = await this.work.cancel(tx, TRIAGE, [open.id], 'waiting');
    if (!run || waiting.length === 0) throw inProgress(open.id);
    return run;
  }

  /** Creates the requested runs. Returns events to retry later: an attempt in progress lacks the latest report. */
  private async triageWanted(tx: Tx, events: readonly DomainEvent[]): Promise<DomainEvent[]> {
    const payloads = Map.groupBy(events, ({ subject }) => subject.id);
    const payloadsOf = (id: string) =>
      payloads.get(id)!.map(({ payload }) => payload as TriageWantedPayload);
    const isAgain = (id: string) => payloadsOf(id).some(({ again }) => again);
    const ids = [...payloads.keys()];
    const wanted = ids.map((incident_id) => {
      const { requested_by = SYSTEM, playbook = null } = payloadsOf(incident_id)[0]!;
      return this.newRun({ incident_id, force: false, playbook }, requested_by);
    });
    const locked = await this.lock(tx, wanted, !this.model.asksOutside);
    const known = await this.runs.known(ids, tx);
    const created = wanted.filter(({ incident_id: id }) => {
      const { open, completed } = known.get(id) ?? {};
      return locked.incidents.has(id) && !open && (isAgain(id) || !completed);
    });
    const runs = created.length > 0 ? await this.runs.insert(tx, created) : [];
    await this.endings.requested(tx, runs);
    await this.start(tx, runs, locked);
    return events.filter(({ subject: { id } }) => {
      return isAgain(id) && known.get(id)?.open?.status === 'running';
    });
  }

  private async start(
    tx: Tx,
    runs: readonly TriageRun[],
    { incidents, outcomeOf }: Locked,
  ): Promise<ReadonlyMap<string, TriageRun>> {
    if (outcomeOf) return await this.endings.write(tx, runs.map(outcomeOf), incidents);
    await this.work.add(tx, TRIAGE, ...runs.map(({ id }) => ({ ref: id })));
    return new Map();
  }

  /** Judges before it locks. Judges again if the incident changed: a verdict is about the locked version. */
  private async lock(tx: Tx, runs: readonly NewRun[], isJudged: boolean): Promise<Locked> {
    const idsOf = (all: readonly NewRun[]) => all.map(({ incident_id }) => incident_id);
    if (!isJudged) return { incidents: await this.incidents.lockAllForUpdate(tx, idsOf(runs)) };
    const at = { started_at: this.clock.now(), provider: this.model.provider };
    const outcomes = new Map<string, Omit<Outcome, 'run'>>();
    const incidents = new Map<string, Incident>();
    for (let open = runs; open.length > 0;) {
      const cases = await this.judging.read(open, tx);
      const judge = async (run: NewRun) => {
        const begun = performance.now();
        const judged = this.judging.judge(run, cases.get(run.incident_id), LOCAL);
        const result = await judged.catch((error: unknown): RunResult => {
          return { error: this.endings.errorOf(error, run) };
        });
        const duration_ms = Math.round(performance.now() - begun);
        outcomes.set(run.incident_id, { ...result, columns: { ...at, duration_ms } });
      };
      await Promise.all(open.map(judge));
      const locked = await this.incidents.lockAllForUpdate(tx, idsOf(open));
      for (const [id, incident] of locked) incidents.set(id, incident);
      open = open.filter(({ incident_id: id }) => {
        return locked.has(id) && locked.get(id)?.version !== cases.get(id)?.incident.version;
      });
    }
    return { incidents, outcomeOf: (run) => ({ ...outcomes.get(run.incident_id)!, run }) };
  }

  private newRun(wanted: WantedRun, requested_by: string): NewRun {
    const created_at = this.clock.now();
    const id = newId(created_at.getTime());
    return { ...wanted, id, requested_by, provider: this.model.provider, created_at };
  }
}

function inProgress(id: string): AppError {
  const details = { triage_id: id, status: 'running' };
  const message = 'A triage run of the incident is running.';
  return new AppError('triage_in_progress', message, { details });
}
