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
import { type ExtractedIndicator, indicatorsInPieces } from '../evidence/indicators.js';
import { checkedVerdict, type CheckedVerdict } from '../evidence/verdict-check.js';
import {
  fieldOf,
  type Judgement,
  type Judging,
  type RunVerdict,
  type ToolCall,
  TriageModel,
} from '../model/triage-model.port.js';
import { storedJson, upTo } from '../records/stored-json.js';
import { TriageTools } from '../tools/triage-tools.js';
import { noPersonAsked, REPORT, type TriageRun } from '../triage-run.js';
import {
  INCIDENT_DELETED,
  isVerdictOutdated,
  NOT_NEEDED,
  RunOver,
  whyNotApplied,
} from './run-rules.js';

/** A checked judgement, cut to the size that a run keeps. */
export interface Found extends CheckedVerdict, Omit<Judgement, 'verdict'> {
  readonly indicators: readonly ExtractedIndicator[];
  /** Time of the newest judged report. */
  readonly reportedAt?: Date;
}

/** An incident with its reports, and the playbook of the run if it is enabled. */
export interface Case {
  readonly incident: Incident;
  readonly reports: readonly JudgedReport[];
  readonly playbook?: PlaybookEntity;
}

/** The columns of a run that its judgement depends on. */
export type JudgedRun = Pick<
  TriageRun,
  'id' | 'incident_id' | 'requested_by' | 'force' | 'playbook'
>;

/** Size of the questions, and of the points. */
const MOST_BYTES = 128 * 1024;
const MOST_CHARACTERS_OF_ONE = 16_000;

/** Asks the model about an incident and checks its answer against the data. */
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

  /** Throws the errors of the model and of the gate, and RunOver. */
  async judge(
    run: JudgedRun,
    given: Case | undefined,
    asking: Omit<Judging, 'tools'>,
  ): Promise<Found> {
    if (!given) throw new RunOver(INCIDENT_DELETED);
    const attributes = { 'triage.id': run.id, 'incident.id': run.incident_id };
    return await traced(
      () => ({ name: 'triage run', kind: 'internal', attributes }),
      () => this.judgeTraced(run, given, asking),
    );
  }

  private async judgeTraced(
    run: JudgedRun,
    { incident, reports, playbook }: Case,
    asking: Omit<Judging, 'tools'>,
  ): Promise<Found> {
    const reportedAt = reports[0]?.at;
    const isWanted = !noPersonAsked(run) || isVerdictOutdated(incident, reportedAt);
    const needless = isWanted ? undefined : whyNotApplied(incident, run);
    if (needless) throw new RunOver(NOT_NEEDED[needless]);
    const { rawData, places } = await this.turns.runInPieces(withReports(incident, reports));
    const indicators = await this.turns.runInPieces(indicatorsInPieces(rawData, incident.fields));
    const question = { runId: run.id, incident, indicators, gate: asking.gate };
    const tools = this.model.asksOutside ? await this.tools.of(question) : [];
    const guidance = playbook?.definition.instructions;
    const given = { ...incident, rawData, indicators, guidance };
    const judgement = await this.model.judge(given, { ...asking, tools });
    const found = foundIn(judgement, { raw_data: rawData, fields: incident.fields });
    const missing = run.playbook !== null && !playbook ? [missingNote(run.playbook)] : [];
    return {
      ...found,
      verdict: withEvidenceOf(found.verdict, places),
      notes: [...missing, ...found.notes],
      indicators,
      reportedAt,
    };
  }
}

function missingNote(playbook: string): string {
  return `There is no enabled playbook ${JSON.stringify(shownName(playbook))}: nothing guided the model.`;
}

function foundIn(
  { model, prompt_hash, points, ...judgement }: Judgement,
  ofIncident: Readonly<Record<'raw_data' | 'fields', unknown>>,
): Omit<Found, 'indicators' | 'reportedAt'> {
  // Evidence is checked against the kept part of an answer, so that readers find it there.
  const toolCalls = storedRecords(judgement.toolCalls);
  const answers = toolCalls.filter(isEvidence).map(({ id, output }) => [id, output] as const);
  const sources = new Map([...answers, ...Object.entries(ofIncident)]);
  return {
    ...checkedVerdict(judgement.verdict, sources),
    model: shownName(model),
    prompt_hash: shownName(prompt_hash),
    points: points && storedRecords(points),
    toolCalls,
  };
}

function storedRecords<T>(records: readonly T[]): T[] {
  return upTo(
    MOST_BYTES,
    records.map((one) => storedJson(one, MOST_CHARACTERS_OF_ONE)),
  );
}

/** The error of a failed question comes from the service, and a sandbox invents its answers. */
function isEvidence({ id, failed, output }: ToolCall): boolean {
  return /^t\d{1,2}$/.test(id) && !failed && fieldOf(output, 'simulated') !== true;
}

/** Keys of the newest report and of earlier reports in the judged data. */
const LATEST = 'latest_report';
const EARLIER = 'earlier_reports';

type JsonRecord = Readonly<Record<string, unknown>>;

/** Id of the report by the beginning of its pointers in the judged data. */
type Places = ReadonlyMap<string, string>;

/**
 * Combines the first event with its reports. Of two values in one place the newest counts, but a report does not take back a value
 * of a worse report. An earlier report that is not worse only adds fields that no later report has.
 */
function* withReports(
  { raw_data, severity }: Pick<Incident, 'raw_data' | 'severity'>,
  reports: readonly JudgedReport[],
): Generator<void, { readonly rawData: JsonRecord; readonly places: Places }> {
  const first = JSON.parse(raw_data) as JsonRecord;
  const [newest, ...earlier] = reports;
  if (newest === undefined) return { rawData: first, places: new Map() };
  yield;
  const latest = JSON.parse(newest.raw_data) as JsonRecord;
  const places = new Map([[`/${LATEST}/`, newest.id]]);
  const told: JsonRecord[] = [];
  for (const report of earlier.toSorted(worstFirst)) {
    yield;
    const event = JSON.parse(report.raw_data) as JsonRecord;
    const isWorst = told.length === 0 && severityRises(newest.severity, report.severity);
    const news = isWorst ? event : [latest, ...told].reduce(withoutKnown, event);
    if (Object.keys(news).length === 0) continue;
    places.set(`/${EARLIER}/${told.length}/`, report.id);
    told.push(news);
  }
  yield;
  // The severity of the incident is that of the worst event: where no report has it, the first event has.
  const isFirstWorst = reports.every((one) => severityRises(one.severity, severity));
  const kept = isFirstWorst ? first : withoutOutdated(first, latest);
  return {
    rawData: { ...kept, [LATEST]: latest, ...(told.length > 0 && { [EARLIER]: told }) },
    places,
  };
}

const worstFirst = (one: JudgedReport, other: JudgedReport): number =>
  Number(severityRises(one.severity, other.severity)) -
  Number(severityRises(other.severity, one.severity));

/** Readers find a later report by its id, not in `raw_data`. */
function withEvidenceOf(verdict: RunVerdict, places: Places): RunVerdict {
  const evidence = verdict.evidence.map((one) => {
    const place = [...places].find(([beginning]) => one.pointer.startsWith(beginning));
    if (one.source !== 'raw_data' || place === undefined) return one;
    const [beginning, id] = place;
    const pointer = one.pointer.slice(beginning.length - 1);
    return { ...one, source: `${REPORT}${id}`, pointer };
  });
  return { ...verdict, evidence };
}

/** The fields that the other event does not have. */
function withoutKnown(event: JsonRecord, other: JsonRecord): JsonRecord {
  const news = Object.entries(event).flatMap(([key, value]) => {
    if (!Object.hasOwn(other, key)) return [[key, value]];
    const known = other[key];
    if (!isRecord(value) || !isRecord(known)) return [];
    const below = withoutKnown(value, known);
    return Object.keys(below).length > 0 ? [[key, below]] : [];
  });
  return Object.fromEntries(news) as JsonRecord;
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
