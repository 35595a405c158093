import { Injectable } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { IncidentReports } from '../../incidents/reports/incident-reports.js';
import type { Gate } from '../../platform/net/gate.js';
import { shownName } from '../../platform/text.js';
import { checkedEvidence } from '../evidence/evidence-rules.js';
import { extractIndicators } from '../evidence/indicators.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';
import { fieldOf, type TokenMeter } from '../model/token-use.js';
import { type Judgement, type ToolCall, TriageModel } from '../model/triage-model.port.js';
import { storedJson, storedRecords } from '../records/stored-json.js';
import { TriageTools } from '../tools/triage-tools.js';
import { type Guidance, TriageGuidance } from '../triage-guidance.js';
import { noPersonAsked, type NotApplied, type RunVerdict, type TriageRun } from '../triage-run.js';
import { whyNotApplied } from './run-rules.js';
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
    const incident = await this.incidents.get(incidentId);
    const needless = noPersonAsked(run) ? whyNotApplied(incident, run) : undefined;
    if (needless) throw new NotNeededError(needless);
    const rawData = withReport(incident.rawData, await this.reports.latest(incidentId));
    const indicators = extractIndicators(rawData, incident.fields);
    const guidance = playbook === undefined ? undefined : await this.guidance.find(playbook);
    const tools = await this.tools.of({ runId, incident, rawData, indicators, gate });
    const judgement = await this.model.judge(
      { ...caseOf(incident, guidance), rawData, indicators },
      { tools, gate, signal, meter },
    );
    const notes = playbook !== undefined && !guidance ? [missing(playbook)] : [];
    return {
      ...foundIn(judgement, { raw_data: rawData, fields: incident.fields }, notes),
      indicators,
    };
  }
}

type JsonRecord = Readonly<Record<string, unknown>>;

/** The first event with the newest report under `latest_report`. Of two values in one place the newest counts. */
function withReport(rawData: string, report: string | undefined): JsonRecord {
  const first = JSON.parse(rawData) as JsonRecord;
  if (report === undefined) return first;
  const latest_report = JSON.parse(report) as JsonRecord;
  return { ...withoutOutdated(first, latest_report), latest_report };
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
    incidentNumber: incident.incidentNumber,
    incidentType: incident.incidentType,
    severity: incident.severity,
    source: incident.source,
    title: incident.title,
    createdAt: incident.createdAt,
    fields: incident.fields,
    guidance: guidance?.instructions,
  };
}

function foundIn(
  judgement: Judgement,
  ofIncident: Readonly<Record<'raw_data' | 'fields', unknown>>,
  earlierNotes: readonly string[],
): Omit<Found, 'indicators'> {
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
