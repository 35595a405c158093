import { Injectable, type OnModuleInit } from '@nestjs/common';
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
import { ModelUnavailableError, TokenMeter, TriageModel } from './model/triage-model.port.js';
import {
  type NewRun,
  type RunListRequest,
  TRIAGE,
  TriageRunsRepository,
} from './triage-runs.repository.js';
import { TriageWork, type Waiting } from './runs/triage-work.js';
import { ProviderState } from './runs/provider-state.js';
import { type Outcome, RunEndings } from './runs/run-endings.js';
import { type JudgedRun, TriageJudging } from './runs/triage-judging.js';
import { stillAnswers, SYSTEM, type TriageRun } from './triage-run.js';

interface WantedRun {
  readonly incidentId: string;
  readonly force: boolean;
  readonly playbook?: string;
}

interface Judged {
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly outcomeOf: (run: TriageRun) => Outcome;
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
    if (playbook !== undefined && !(await this.playbooks.findEnabled(playbook))) {
      const message = 'playbook must be the name or id of an enabled playbook.';
      throw ValidationError.of('playbook', 'unknown_playbook', message);
    }
    const incident = await this.incidents.get(wanted.incidentId);
    const { id: incidentId } = incident;
    const { open, completed } = (await this.runs.known([incidentId])).get(incidentId) ?? {};
    if (completed && !force && stillAnswers(completed, incident.status)) {
      return (await this.runs.find(incidentId, completed.id))!;
    }
    if (this.model.unusable) throw unavailable(this.model.unusable);
    if (open?.status === 'running') throw inProgress(open.id);
    const shortage = later ? undefined : await this.provider.shortage();
    if (shortage) throw unavailable(shortage);
    const run = this.newRun({ ...wanted, incidentId }, caller.name);
    return await this.begin(caller, run, later, waiting);
  }

  async list(incidentId: string, request: RunListRequest): Promise<Page<TriageRun>> {
    const { id } = await this.incidents.get(incidentId);
    return await this.runs.list(id, request);
  }

  async get(incidentId: string, id: string): Promise<TriageRun> {
    const incident = await this.incidents.get(incidentId);
    const run = isUuid(id) ? await this.runs.find(incident.id, id) : undefined;
    if (!run) throw new NotFoundError('Triage run');
    return run;
  }

  private async begin(
    caller: Principal,
    wanted: NewRun,
    later: boolean,
    waiting: Waiting,
  ): Promise<TriageRun> {
    let ended: Awaited<ReturnType<TriageWork['begin']>> | undefined;
    const run = await this.transactions.run<TriageRun>(
      async (tx) => {
        ended = undefined;
        const permit = this.model.asksOutside ? await this.killSwitch.claimPermit(tx) : undefined;
        const isJudged = !this.model.asksOutside && !later;
        const judged = isJudged ? await this.judgeAndLock(tx, [wanted]) : undefined;
        const created = await this.createOrTakeOver(tx, wanted, judged);
        if (created.status === 'completed') return created;
        const error = judged?.outcomeOf(created).error;
        if (error) throw new Error(error.message);
        await this.endings.requested(tx, [created], !later);
        const started = later || judged ? await this.start(tx, [created], judged) : undefined;
        if (started) return started.get(created.id) ?? created;
        const hasWaited = created.id !== wanted.id;
        ended = await this.asked.begin(tx, created, { ...waiting, hasWaited }, permit!);
        return { ...created, status: 'running' };
      },
      caller,
      waiting.completed,
    );
    if (!ended) return run;
    try {
      return (await ended()) ?? run;
    } catch (error) {
      throw error instanceof ModelUnavailableError ? unavailable(error) : error;
    }
  }

  private async createOrTakeOver(
    tx: Tx,
    wanted: NewRun,
    judged: Judged | undefined,
  ): Promise<TriageRun> {
    const { incident_id: id, force, playbook } = wanted;
    const incidents = judged?.incidents ?? (await this.incidents.lockAllForUpdate(tx, [id]));
    const incident = incidents.get(id);
    if (!incident) throw new NotFoundError('Incident');
    const { open, completed } = (await this.runs.known([id], tx)).get(id) ?? {};
    if (judged && completed && !force && stillAnswers(completed, incident.status)) {
      return (await this.runs.find(id, completed.id, tx))!;
    }
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
    const wanted = ids.map((incidentId) => {
      const { requested_by = SYSTEM, playbook } = payloadsOf(incidentId)[0]!;
      return this.newRun({ incidentId, force: false, playbook }, requested_by);
    });
    const isLocal = !this.model.asksOutside;
    const judged = isLocal ? await this.judgeAndLock(tx, wanted) : undefined;
    const incidents = judged?.incidents ?? (await this.incidents.lockAllForUpdate(tx, ids));
    const known = await this.runs.known(ids, tx);
    const created = wanted.filter(({ incident_id: id }) => {
      const { open, completed } = known.get(id) ?? {};
      return incidents.has(id) && !open && (isAgain(id) || !completed);
    });
    const runs = created.length > 0 ? await this.runs.insert(tx, created) : [];
    await this.endings.requested(tx, runs);
    await this.start(tx, runs, judged);
    return events.filter(({ subject: { id } }) => {
      return isAgain(id) && known.get(id)?.open?.status === 'running';
    });
  }

  private async start(
    tx: Tx,
    runs: readonly TriageRun[],
    judged: Judged | undefined,
  ): Promise<ReadonlyMap<string, TriageRun>> {
    if (judged) return await this.endings.write(tx, runs.map(judged.outcomeOf), judged.incidents);
    await this.work.add(tx, TRIAGE, ...runs.map(({ id }) => ({ ref: id })));
    return new Map();
  }

  /** Judges without locks, then locks. Judges again if the incident changed: a verdict is about the locked version. */
  private async judgeAndLock(tx: Tx, runs: readonly JudgedRun[]): Promise<Judged> {
    const at = { started_at: this.clock.now(), provider: this.model.provider };
    const outcomes = new Map<string, Omit<Outcome, 'run'>>();
    const incidents = new Map<string, Incident>();
    for (let open = runs; open.length > 0;) {
      const cases = await this.judging.read(open, tx);
      const judge = async (run: JudgedRun): Promise<Omit<Outcome, 'run'>> => {
        const begun = performance.now();
        try {
          const found = await this.judging.judge(run, cases.get(run.incident_id), LOCAL);
          const duration_ms = Math.round(performance.now() - begun);
          return { found, columns: { ...at, duration_ms } };
        } catch (error) {
          return { error: this.endings.errorOf(error, run), columns: at };
        }
      };
      await Promise.all(open.map(async (run) => outcomes.set(run.incident_id, await judge(run))));
      const ids = open.map(({ incident_id }) => incident_id);
      const locked = await this.incidents.lockAllForUpdate(tx, ids);
      for (const [id, incident] of locked) incidents.set(id, incident);
      open = open.filter(({ incident_id: id }) => {
        return locked.has(id) && locked.get(id)?.version !== cases.get(id)?.incident.version;
      });
    }
    return { incidents, outcomeOf: (run) => ({ ...outcomes.get(run.incident_id)!, run }) };
  }

  private newRun({ incidentId, force, playbook }: WantedRun, requested_by: string): NewRun {
    const created_at = this.clock.now();
    return {
      id: newId(created_at.getTime()),
      incident_id: incidentId,
      requested_by,
      force,
      playbook: playbook ?? null,
      provider: this.model.provider,
      created_at,
    };
  }
}

function inProgress(id: string): AppError {
  const details = { triage_id: id, status: 'running' };
  const message = 'A triage run of the incident is running.';
  return new AppError('triage_in_progress', message, { details });
}

function unavailable({ reason, message, extras }: ModelUnavailableError): AppError {
  const { retryAfterMs, cause } = extras;
  const seconds = retryAfterMs === undefined ? undefined : Math.max(1, retryAfterMs / 1_000);
  return new AppError('ai_unavailable', message, {
    details: { reason },
    cause,
    ...(seconds && { headers: { 'retry-after': String(Math.ceil(seconds)) } }),
  });
}
