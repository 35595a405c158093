import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { Clock } from '../../platform/clock.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import { TokenMeter, TriageModel } from '../model/triage-model.port.js';
import { TRIAGE, TriageRunsRepository } from '../triage-runs.repository.js';
import type { TriageRun } from '../triage-run.js';
import { type Outcome, RunEndings } from './run-endings.js';
import { TAKEN_OVER } from './run-rules.js';
import { type Case, type JudgedRun, TriageJudging } from './triage-judging.js';

const MOST_IN_SET = 64;

const ASKING = {
  gate: { send: () => Promise.reject(new Error('A local model must not send requests.')) },
  signal: new AbortController().signal,
  meter: new TokenMeter(),
};

export interface LockedJudgements {
  readonly incidents: ReadonlyMap<string, Incident>;
  readonly outcomeOf: (run: TriageRun) => Outcome;
}

/** Executes runs without an external model, such as by rules. Ends a set of runs in one transaction. */
@Injectable()
export class LocalTriage implements OnModuleInit {
  constructor(
    private readonly judging: TriageJudging,
    private readonly incidents: Incidents,
    private readonly runs: TriageRunsRepository,
    private readonly endings: RunEndings,
    private readonly model: TriageModel,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    if (this.model.asksOutside) return;
    this.work.define({
      ...TRIAGE,
      places: MOST_IN_SET,
      inSet: (tx, rows) => this.end(tx, rows),
      gaveUp: (tx, row) => this.endings.gaveUp(tx, row),
    });
  }

  /**
   * Judges incidents without locks, then locks them. If an incident changed meanwhile, repeats the judgement under the
   * lock, so that each verdict is about the locked version.
   */
  async judgeAndLock(tx: Tx, runs: readonly JudgedRun[]): Promise<LockedJudgements> {
    const at = { started_at: this.clock.now(), provider: this.model.provider };
    const outcomes = new Map<string, Omit<Outcome, 'run'>>();
    const incidents = new Map<string, Incident>();
    for (let open = runs; open.length > 0;) {
      const cases = await this.judging.read(open, tx);
      const judge = async (run: JudgedRun) =>
        outcomes.set(run.incident_id, await this.judge(run, cases.get(run.incident_id)));
      await Promise.all(open.map(judge));
      const ids = open.map(({ incident_id }) => incident_id);
      const locked = await this.incidents.lockAllForUpdate(tx, ids);
      for (const [id, incident] of locked) incidents.set(id, incident);
      open = open.filter(({ incident_id: id }) => {
        return locked.has(id) && locked.get(id)?.version !== cases.get(id)?.incident.version;
      });
    }
    const outcomeOf = (run: TriageRun): Outcome => {
      const { columns, ...outcome } = outcomes.get(run.incident_id)!;
      return { ...outcome, run, columns: { ...columns, ...at } };
    };
    return { incidents, outcomeOf };
  }

  private async judge(run: JudgedRun, given: Case | undefined): Promise<Omit<Outcome, 'run'>> {
    const begun = performance.now();
    try {
      const found = await this.judging.judge(run, given, ASKING);
      return { found, columns: { duration_ms: Math.round(performance.now() - begun) } };
    } catch (error) {
      return { error: this.endings.errorOf(error, run) };
    }
  }

  private async end(tx: Tx, rows: readonly Claimed[]): Promise<void> {
    const lapsed = new Set(rows.flatMap((row) => (row.lapsed ? row.ref : [])));
    const runs = await this.runs.queued(
      tx,
      rows.map(({ ref }) => ref),
    );
    const judged = await this.judgeAndLock(tx, runs);
    const outcomes = runs.map((run) => {
      return { ...judged.outcomeOf(run), notes: lapsed.has(run.id) ? [TAKEN_OVER] : [] };
    });
    await this.endings.write(tx, outcomes, judged.incidents);
  }
}
