import { Injectable } from '@nestjs/common';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import { isPerson } from '../../actions/action.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import { type Evidence, type Incident, severityRises } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentReports, type JudgedReport } from '../../incidents/reports/incident-reports.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import type { Tx } from '../../platform/database/transactions.js';
import { shownName, shownStart } from '../../platform/text.js';
import { traced } from '../../platform/tracing/tracing.js';
import { isObject } from '../../targets/target-config.js';
import type { PlaybookEntity } from '../../playbooks/playbook.js';
import { PlaybooksService } from '../../playbooks/playbooks.service.js';
import {
  type ExtractedIndicator,
  indicatorsInPieces,
  type IndicatorType,
} from '../evidence/indicators.js';
import { checkedVerdict } from '../evidence/verdict-check.js';
import {
  type Judging,
  ToolError,
  TriageModel,
  type TriageTool,
} from '../model/triage-model.port.js';
import type { NewRun } from '../triage-runs.repository.js';
import {
  failureOf,
  isVerdictOutdated,
  type RunError,
  type TriageRunEntity,
  whyNotApplied,
} from '../triage-run.js';

export interface Found {
  readonly columns: Partial<TriageRunEntity>;
  readonly notes: readonly string[];
  readonly reportedAt?: Date;
}

/** Either `found` or `error`. */
export interface RunResult {
  readonly found?: Found;
  readonly error?: RunError;
}

export interface Case {
  readonly incident: Incident;
  readonly reports: readonly JudgedReport[];
  readonly playbook?: PlaybookEntity;
}

@Injectable()
export class TriageJudging {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly incidents: Incidents,
    private readonly reports: IncidentReports,
    private readonly playbooks: PlaybooksService,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
    private readonly model: TriageModel,
  ) {}

  async read(runs: readonly NewRun[], tx?: Tx): Promise<ReadonlyMap<string, Case>> {
    const ids = runs.map(({ incident_id }) => incident_id);
    const incidents = await this.incidents.findAll(ids, tx);
    const reports = await this.reports.toJudge(ids, tx);
    const playbooks = new Map<string, PlaybookEntity | undefined>();
    for (const name of new Set(runs.flatMap(({ playbook }) => playbook ?? []))) {
      playbooks.set(name, await this.playbooks.findEnabled(name, tx));
    }
    const cases = new Map<string, Case>();
    for (const { incident_id: id, playbook } of runs) {
      const incident = incidents.get(id);
      const given = { reports: reports.get(id) ?? [], playbook: playbooks.get(playbook ?? '') };
      if (incident) cases.set(id, { incident, ...given });
    }
    return cases;
  }

  async judge(
    run: NewRun,
    known: Case | undefined,
    asking: Omit<Judging, 'tools'>,
  ): Promise<RunResult> {
    const attributes = { 'triage.id': run.id, 'incident.id': run.incident_id };
    return await traced(
      () => ({ name: 'triage run', kind: 'internal', attributes }),
      async () => {
        if (!known) return { error: failureOf('incident_deleted') };
        const { incident, reports } = known;
        const isWanted = isPerson(run.requested_by) || isVerdictOutdated(incident, reports[0]?.at);
        if (!isWanted && whyNotApplied(incident, run)) return { error: failureOf('not_needed') };
        return { found: await this.judgeCase(run, known, asking) };
      },
    );
  }

  private async judgeCase(
    run: NewRun,
    { incident, reports, playbook }: Case,
    asking: Omit<Judging, 'tools'>,
  ): Promise<Found> {
    const rawData = await this.turns.run(() => withReports(incident, reports));
    const { fields } = incident;
    const indicators = await this.turns.runInPieces(indicatorsInPieces(rawData, fields));
    const lookUp = (one: ExtractedIndicator) => this.lookUp(run, incident, one, asking);
    const tools = this.model.asksOutside ? await this.toolsFor(indicators, lookUp) : [];
    const given = {
      ...{ ...incident, rawData, indicators },
      guidance: playbook?.definition.instructions,
    };
    const { verdict, ...answer } = await this.model.judge(given, { ...asking, tools });
    const sources = new Map<string, unknown>(Object.entries({ raw_data: rawData, fields }));
    // The output of a failed question is no source, because the service itself wrote the error.
    for (const { id, output, failed } of answer.tool_calls) if (!failed) sources.set(id, output);
    const { recommended_actions, ...checked } = checkedVerdict(verdict, sources);
    const missing = run.playbook && !playbook && JSON.stringify(shownName(run.playbook));
    const note = `There is no enabled playbook ${missing}: nothing guided the model.`;
    const evidence = checked.verdict.evidence.map((one) => placed(one, reports));
    return {
      columns: { ...answer, recommended_actions, verdict: { ...checked.verdict, evidence } },
      notes: [...(missing ? [note] : []), ...checked.notes],
      reportedAt: reports[0]?.at,
    };
  }

  private async toolsFor(
    indicators: readonly ExtractedIndicator[],
    ask: TriageTool['ask'],
  ): Promise<TriageTool[]> {
    const description = `What threat intelligence says about an indicator of type ${LOOKED_UP.join(', ')}.`;
    for (const type of new Set(indicators.map((one) => one.type))) {
      if (await this.connectorOf(type)) return [{ name: 'look_up', description, ask }];
    }
    return [];
  }

  /** Ignores sandboxes, because they invent responses. */
  private async connectorOf(type: IndicatorType): Promise<Connector | undefined> {
    if (!LOOKED_UP.includes(type)) return undefined;
    const connector = await this.registry.providerOf(lookUpOf(type));
    return connector?.simulates ? undefined : connector;
  }

  private async lookUp(
    run: NewRun,
    incident: Incident,
    { id, type: indicatorType, value }: ExtractedIndicator,
    { gate }: Pick<Judging, 'gate'>,
  ): Promise<object> {
    const connector = await this.connectorOf(indicatorType);
    if (!connector) throw new ToolError(`No enabled connector looks up type ${indicatorType}.`);
    const type = lookUpOf(indicatorType);
    const parameters = { [indicatorType]: value };
    if (parameterErrors(actionType(type), parameters).length > 0) {
      throw new ToolError(`This value is not a valid ${indicatorType}.`);
    }
    const level = this.levels.forRequest({ action_type: type, parameters, incident });
    if (level !== 'none') throw new ToolError(`Looking it up needs the approval of a ${level}.`);
    const actionId = `triage-${run.id}-${id}`;
    const call = { actionId, attempt: 1, type, parameters, mayTarget: () => true };
    const outcome = await connector.execute(call, gate);
    const answered = outcome.kind === 'done';
    const data = shownData(answered ? outcome.data : undefined);
    const json = JSON.stringify(data ?? {});
    return {
      ...{ connector: connector.identity.name, answered, message: shownMessage(outcome.message) },
      ...(data && { data: json.length > LONGEST_DATA ? shownStart(json, LONGEST_DATA) : data }),
    };
  }
}

const LOOKED_UP: readonly IndicatorType[] = ['url', 'domain', 'ip', 'hash'];
const lookUpOf = (type: IndicatorType) => `lookup_${type}` as ActionTypeName;
const LONGEST_DATA = 8_000;

const LATEST = 'latest_report';
const EARLIER = 'earlier_reports';

type JsonRecord = Readonly<Record<string, unknown>>;

/** Combines the first event with its reports. Removes its outdated values, unless it is the most severe event. */
function withReports(incident: Incident, reports: readonly JudgedReport[]): JsonRecord {
  const events = [incident, ...reports].map((one) => JSON.parse(one.raw_data) as JsonRecord);
  const [first, latest, ...earlier] = events;
  if (!latest) return first!;
  // The incident has its highest severity. If no report has that severity, the first event is the most severe.
  const isFirstWorst = reports.every((one) => severityRises(one.severity, incident.severity));
  return {
    ...(isFirstWorst ? first : withoutOutdated(first!, latest)),
    [LATEST]: latest,
    ...(earlier.length > 0 && { [EARLIER]: earlier }),
  };
}

const IN_REPORT = new RegExp(`^/(?:${LATEST}|${EARLIER}/(\\d+))(/.*)`, 's');

/** Evidence from a later report is not in `raw_data`, so its source contains the id of the report. */
function placed(evidence: Evidence, reports: readonly JudgedReport[]): Evidence {
  const [, n = -1, pointer] = IN_REPORT.exec(evidence.pointer) ?? [];
  const report = reports[Number(n) + 1];
  if (evidence.source !== 'raw_data' || !report || pointer === undefined) return evidence;
  return { ...evidence, source: `report/${report.id}`, pointer };
}

function withoutOutdated(first: JsonRecord, latest: JsonRecord): JsonRecord {
  const kept = Object.entries(first).flatMap(([key, value]) => {
    const later = Object.hasOwn(latest, key) ? latest[key] : value;
    if (isObject(value) && isObject(later)) return [[key, withoutOutdated(value, later)]];
    return value === later || Array.isArray(value) ? [[key, value]] : [];
  });
  return Object.fromEntries(kept) as JsonRecord;
}
