import { Injectable } from '@nestjs/common';
import { type Incident, severityRises } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentReports, type JudgedReport } from '../../incidents/reports/incident-reports.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import type { Tx } from '../../platform/database/transactions.js';
import { shownName } from '../../platform/text.js';
import { traced } from '../../platform/tracing/tracing.js';
import type { PlaybookEntity } from '../../playbooks/playbook.js';
import { PlaybooksService } from '../../playbooks/playbooks.service.js';
import { indicatorsInPieces } from '../evidence/indicators.js';
import { checkedVerdict } from '../evidence/verdict-check.js';
import { type Judging, type RunVerdict, TriageModel } from '../model/triage-model.port.js';
import { TriageTools } from '../tools/triage-tools.js';
import { noPersonAsked, REPORT, type TriageRun, type TriageRunEntity } from '../triage-run.js';
import {
  INCIDENT_DELETED,
  isVerdictOutdated,
  NOT_NEEDED,
  RunOver,
  whyNotApplied,
} from './run-rules.js';

export interface Found {
  readonly columns: Partial<TriageRunEntity>;
  readonly notes: readonly string[];
  readonly reportedAt?: Date;
}

export interface Case {
  readonly incident: Incident;
  readonly reports: readonly JudgedReport[];
  readonly playbook?: PlaybookEntity;
}

export type JudgedRun = Pick<
  TriageRun,
  'id' | 'incident_id' | 'requested_by' | 'force' | 'playbook'
>;

@Injectable()
export class TriageJudging {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly incidents: Incidents,
    private readonly reports: IncidentReports,
    private readonly playbooks: PlaybooksService,
    private readonly tools: TriageTools,
    private readonly model: TriageModel,
  ) {}

  /** Returns the cases of runs by incident, without deleted incidents. */
  async read(runs: readonly JudgedRun[], tx?: Tx): Promise<ReadonlyMap<string, Case>> {
    const ids = runs.map(({ incident_id }) => incident_id);
    const incidents = await this.incidents.findAll(ids, tx);
    const reports = await this.reports.toJudge(ids, tx);
    const playbooks = new Map<string, PlaybookEntity | undefined>();
    for (const name of new Set(runs.flatMap(({ playbook }) => playbook ?? []))) {
      playbooks.set(name, await this.playbooks.findEnabled(name, tx));
    }
    const cases = runs.flatMap(({ incident_id: id, playbook }): [string, Case][] => {
      const incident = incidents.get(id);
      const given = { reports: reports.get(id) ?? [], playbook: playbooks.get(playbook ?? '') };
      return incident ? [[id, { incident, ...given }]] : [];
    });
    return new Map(cases);
  }

  async judge(
    run: JudgedRun,
    known: Case | undefined,
    asking: Omit<Judging, 'tools'>,
  ): Promise<Found> {
    if (!known) throw new RunOver(INCIDENT_DELETED);
    const attributes = { 'triage.id': run.id, 'incident.id': run.incident_id };
    return await traced(
      () => ({ name: 'triage run', kind: 'internal', attributes }),
      () => this.judgeTraced(run, known, asking),
    );
  }

  private async judgeTraced(
    run: JudgedRun,
    { incident, reports, playbook }: Case,
    asking: Omit<Judging, 'tools'>,
  ): Promise<Found> {
    const reportedAt = reports[0]?.at;
    if (noPersonAsked(run) && !isVerdictOutdated(incident, reportedAt)) {
      const needless = whyNotApplied(incident, run);
      if (needless) throw new RunOver(NOT_NEEDED[needless]);
    }
    const rawData = await this.turns.runInPieces(withReports(incident, reports));
    const { fields } = incident;
    const indicators = await this.turns.runInPieces(indicatorsInPieces(rawData, fields));
    const question = { runId: run.id, incident, indicators, gate: asking.gate };
    const tools = this.model.asksOutside ? await this.tools.of(question) : [];
    const given = {
      ...{ ...incident, rawData, indicators },
      guidance: playbook?.definition.instructions,
    };
    const { verdict, ...answer } = await this.model.judge(given, { ...asking, tools });
    const sources = new Map<string, unknown>(Object.entries({ raw_data: rawData, fields }));
    // The service itself writes the errors of failed questions.
    for (const { id, output, failed } of answer.tool_calls) if (!failed) sources.set(id, output);
    const checked = checkedVerdict(verdict, sources);
    const { recommended_actions } = checked;
    return {
      columns: {
        ...answer,
        recommended_actions,
        verdict: withEvidenceOf(checked.verdict, reports),
      },
      notes: [...(run.playbook && !playbook ? [missingNote(run.playbook)] : []), ...checked.notes],
      reportedAt,
    };
  }
}

function missingNote(playbook: string): string {
  return `There is no enabled playbook ${JSON.stringify(shownName(playbook))}: nothing guided the model.`;
}

const LATEST = 'latest_report';
const EARLIER = 'earlier_reports';

type JsonRecord = Readonly<Record<string, unknown>>;

/** Combines the first event with its reports. The newest report replaces values of the first event, unless the first is worse. */
function* withReports(
  { raw_data, severity }: Pick<Incident, 'raw_data' | 'severity'>,
  reports: readonly JudgedReport[],
): Generator<void, JsonRecord> {
  const events: JsonRecord[] = [];
  for (const text of [raw_data, ...reports.map((report) => report.raw_data)]) {
    events.push(JSON.parse(text) as JsonRecord);
    yield;
  }
  const [first, latest, ...earlier] = events;
  if (!latest) return first!;
  // The incident has the severity of its worst event. If no report has this severity, the first event has it.
  const isFirstWorst = reports.every((one) => severityRises(one.severity, severity));
  return {
    ...(isFirstWorst ? first : withoutOutdated(first!, latest)),
    [LATEST]: latest,
    ...(earlier.length > 0 && { [EARLIER]: earlier }),
  };
}

const IN_REPORT = new RegExp(`^/(?:${LATEST}|${EARLIER}/(\\d+))(/.*)`, 's');

/** Names a later report by its id, because it is not in `raw_data`. */
function withEvidenceOf(verdict: RunVerdict, reports: readonly JudgedReport[]): RunVerdict {
  const evidence = verdict.evidence.map((one) => {
    const [, n = -1, pointer] = IN_REPORT.exec(one.pointer) ?? [];
    const report = reports[Number(n) + 1];
    const isOfReport = one.source === 'raw_data' && report !== undefined && pointer !== undefined;
    return isOfReport ? { ...one, source: `${REPORT}${report.id}`, pointer } : one;
  });
  return { ...verdict, evidence };
}

function withoutOutdated(first: JsonRecord, latest: JsonRecord): JsonRecord {
  const kept = Object.entries(first).flatMap(([key, value]) => {
    const later = Object.hasOwn(latest, key) ? latest[key] : value;
    if (isRecord(value) && isRecord(later)) return [[key, withoutOutdated(value, later)]];
    return value === later || Array.isArray(value) ? [[key, value]] : [];
  });
  return Object.fromEntries(kept) as JsonRecord;
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
