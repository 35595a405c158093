import { Injectable } from '@nestjs/common';
import { type Incident, severityRises } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { IncidentReports, type JudgedReport } from '../../incidents/reports/incident-reports.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { shownName } from '../../platform/text.js';
import { checkedEvidence } from '../evidence/evidence-rules.js';
import { indicatorsInPieces } from '../evidence/indicators.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';
import { fieldOf, type TokenMeter } from '../model/token-use.js';
import { type Judgement, type ToolCall, TriageModel } from '../model/triage-model.port.js';
import { storedJson, storedRecords } from '../records/stored-json.js';
import { TriageTools } from '../tools/triage-tools.js';
import { type Guidance, TriageGuidance } from '../triage-guidance.js';
import {
  noPersonAsked,
  type NotApplied,
  REPORT,
  type RunVerdict,
  type TriageRun,
} from '../triage-run.js';
import { isVerdictOutdated, whyNotApplied } from './run-rules.js';
import { knownActions, runVerdict } from './run-verdict.js';

/** What came of asking the model: checked, cut to what is kept, and not written down yet. */
export interface Found {
  readonly verdict: RunVerdict;
  readonly recommendedActions: readonly string[];
  readonly notes: readonly string[];
  readonly model: string;
  readonly promptHash: string;
  readonly tokens: Judgement['tokens'];
  readonly points?: Judgement['points'];
  readonly toolCalls: readonly ToolCall[];
  readonly indicators: readonly ExtractedIndicator[];
  /** When the newest report came that was judged. */
  readonly reportedAt?: Date;
}

/** Nobody waits for the run, and people have decided meanwhile: the model is not asked. */
export class NotNeededError extends Error {
  constructor(readonly why: NotApplied) {
    super(why);
  }
}

const CALLS_ROOM = { characters: 128_000, longestText: 4_000, items: 100, depth: 14 } as const;
const POINTS_ROOM = { characters: 64_000, longestText: 1_000, items: 200, depth: 3 } as const;
const NOTES_ROOM = { characters: 4_000, longestText: 500, items: 20, depth: 1 } as const;

/** Asks the model about an incident, and believes of its answer what the data bears out. */
@Injectable()
export class TriageJudging {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly incidents: IncidentsService,
    private readonly reports: IncidentReports,
    private readonly guidance: TriageGuidance,
    private readonly tools: TriageTools,
    private readonly model: TriageModel,
  ) {}

  /** Throws what the model and the gate throw, NotFoundError when the incident was deleted, and NotNeededError. */
  async judge(run: TriageRun, gate: Gate, signal: AbortSignal, meter: TokenMeter): Promise<Found> {
    const { id: runId, incidentId, playbook } = run;
    const [incident, reports] = await Promise.all([
      this.incidents.get(incidentId),
      this.reports.toJudge(incidentId),
    ]);
    const reportedAt = reports[0]?.at;
    const isWanted = !noPersonAsked(run) || isVerdictOutdated(incident, reportedAt);
    const needless = isWanted ? undefined : whyNotApplied(incident, run);
    if (needless) throw new NotNeededError(needless);
    const { rawData, places } = await this.turns.runInPieces(withReports(incident, reports));
    const indicators = await this.turns.runInPieces(indicatorsInPieces(rawData, incident.fields));
    const guidance = playbook === undefined ? undefined : await this.guidance.find(playbook);
    const question = { runId, incident, rawData, indicators, gate };
    const tools = this.model.usesTools ? await this.tools.of(question) : [];
    const judgement = await this.model.judge(
      { ...caseOf(incident, guidance), rawData, indicators },
      { tools, gate, signal, meter },
    );
    const notes = playbook !== undefined && !guidance ? [missing(playbook)] : [];
    const found = foundIn(judgement, { raw_data: rawData, fields: incident.fields }, notes);
    return {
      ...found,
      verdict: withEvidenceOf(found.verdict, places),
      indicators,
      reportedAt,
    };
  }
}

/** Where the reports stand in what is judged: the newest one, and worse ones before it. */
const LATEST = 'latest_report';
const EARLIER = 'earlier_reports';

type JsonRecord = Readonly<Record<string, unknown>>;

/** By the beginning of a pointer into what is judged: the id of the report that is there. */
type Places = ReadonlyMap<string, string>;

/**
 * The first event with its reports. Of two values in one place the newest counts, but a report takes back nothing of what a worse
 * one said. Of an earlier report that is no worse, what the later ones do not speak of counts.
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

/** Readers find a later report by its id among the reports of the incident, and not in `raw_data`. */
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

/** What the other event does not speak of. */
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

function caseOf(incident: Incident, guidance: Guidance | undefined) {
  return {
    incidentId: incident.id,
    incidentNumber: incident.incident_number,
    incidentType: incident.incident_type,
    severity: incident.severity,
    source: incident.source,
    title: incident.title,
    createdAt: incident.created_at,
    fields: incident.fields,
    guidance: guidance?.instructions,
  };
}

function foundIn(
  judgement: Judgement,
  ofIncident: Readonly<Record<'raw_data' | 'fields', unknown>>,
  earlierNotes: readonly string[],
): Omit<Found, 'indicators' | 'reportedAt'> {
  const { model, promptHash, tokens, points } = judgement;
  // Evidence is held against what is kept of an answer, so that its readers find it there.
  const toolCalls = storedRecords(judgement.toolCalls, CALLS_ROOM);
  const sources = new Map([
    ...toolCalls.filter(isEvidence).map(({ id, output }) => [id, output] as const),
    ...Object.entries(ofIncident),
  ]);
  const { verdict, notes } = checkedEvidence(judgement.verdict, sources);
  return {
    verdict: runVerdict(verdict),
    recommendedActions: knownActions(verdict),
    notes: storedJson([...earlierNotes, ...notes], NOTES_ROOM),
    model: shownName(model),
    promptHash: shownName(promptHash),
    tokens,
    points: points && storedRecords(points, POINTS_ROOM),
    toolCalls,
  };
}

/** Why a question was not answered is said by the service itself, and what a sandbox answers is made up. */
function isEvidence({ failed, output }: ToolCall): boolean {
  return !failed && fieldOf(output, 'simulated') !== true;
}

function missing(playbook: string): string {
  return `There is no enabled playbook ${JSON.stringify(shownName(playbook))}: nothing guided the model.`;
}
