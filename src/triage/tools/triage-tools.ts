import { Injectable } from '@nestjs/common';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Incident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { unlessAborted } from '../../platform/concurrency/within.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator, IndicatorType } from '../evidence/indicators.js';
import { mailAuthentication } from '../evidence/mail-authentication.js';
import { harmlessJson } from '../evidence/visible-text.js';
import { LONGEST_ANSWER_BYTES, ToolError, type TriageTool } from '../model/triage-model.port.js';
import { storedJson } from '../records/stored-json.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';

/** Data of a run that its tools read. */
interface Question {
  readonly runId: string;
  readonly incident: Incident;
  readonly rawData: Readonly<Record<string, unknown>>;
  readonly indicators: readonly ExtractedIndicator[];
  readonly gate: Gate;
}

/** Look-ups by type of indicator, with their only parameter. */
const LOOKUPS: Partial<Record<IndicatorType, { type: ActionTypeName; parameter: string }>> = {
  url: { type: 'lookup_url', parameter: 'url' },
  domain: { type: 'lookup_domain', parameter: 'domain' },
  ip: { type: 'lookup_ip', parameter: 'ip' },
  hash: { type: 'lookup_hash', parameter: 'hash' },
};

/** A model cannot put its own words into a question, because it names an indicator by its id. */
const INDICATOR_INPUT = {
  type: 'object',
  properties: {
    indicator_id: { type: 'string', description: 'The id of an indicator of this incident.' },
  },
  required: ['indicator_id'],
  additionalProperties: false,
} as const;

const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false } as const;
const MOST_RELATED = 10;

/** The questions that a model may ask in a run. They only read. */
@Injectable()
export class TriageTools {
  constructor(
    private readonly runs: TriageRunsRepository,
    private readonly incidents: Incidents,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
  ) {}

  async of(question: Question): Promise<TriageTool[]> {
    const { indicators } = question;
    const types = await this.typesLookedUp();
    const tools: TriageTool[] = [
      {
        name: 'related_incidents',
        description: `The newest other incidents, at most ${MOST_RELATED}, in which triage found the same indicator, with their verdicts.`,
        inputSchema: INDICATOR_INPUT,
        ask: (input) => this.related(question.incident, indicatorOf(input, indicators)),
      },
      mailAuthenticationOf(question),
      {
        name: 'look_up',
        description: `What threat intelligence says about an indicator of type ${types.join(', ')}.`,
        inputSchema: INDICATOR_INPUT,
        ask: (input, signal) => this.lookUp(question, indicatorOf(input, indicators), signal),
      },
    ];
    const canLookUp = indicators.some(({ type }) => types.includes(type));
    return (canLookUp ? tools : tools.slice(0, -1)).map((tool) => boundedTool(tool));
  }

  private async related({ id }: Incident, indicator: ExtractedIndicator): Promise<unknown> {
    const ids = await this.runs.incidentsWith(indicator, id, MOST_RELATED);
    // Without deleted incidents.
    const found = await this.incidents.findAll(ids);
    return { incidents: ids.flatMap((one) => found.get(one) ?? []).map(shown) };
  }

  /** Without sandboxes, whose answers are invented. */
  private async typesLookedUp(): Promise<string[]> {
    const types: string[] = [];
    for (const [indicator, { type }] of Object.entries(LOOKUPS)) {
      const connector = await this.registry.providerOf(type);
      if (connector && !connector.simulates) types.push(indicator);
    }
    return types;
  }

  /** Never looks up a protected target, or anything that needs an approval. */
  private async lookUp(
    { runId, incident, gate }: Question,
    indicator: ExtractedIndicator,
    signal: AbortSignal,
  ): Promise<unknown> {
    const lookup = LOOKUPS[indicator.type];
    if (!lookup) throw new ToolError(`There is no look-up for type ${indicator.type}.`);
    const { type } = lookup;
    const parameters = { [lookup.parameter]: indicator.value };
    if (parameterErrors(actionType(type), parameters).length > 0) {
      throw new ToolError(`This value is not a valid ${indicator.type}.`);
    }
    const level = this.levels.forRequest({ action_type: type, parameters, incident });
    if (level !== 'none') throw new ToolError(`Looking it up needs the approval of a ${level}.`);
    const connector = await this.registry.providerOf(type);
    if (!connector || connector.simulates) {
      throw new ToolError(`No enabled connector provides ${type}.`);
    }
    const actionId = `triage-${runId}-${indicator.id}`;
    const call = { actionId, attempt: 1, type, parameters, mayTarget: () => true };
    const outcome = await connector.execute(call, untilAborted(gate, signal));
    return {
      connector: connector.identity.name,
      answered: outcome.kind === 'done',
      message: shownMessage(outcome.message),
      ...(outcome.kind === 'done' && outcome.data && { data: shownData(outcome.data) }),
      ...(outcome.simulated && { simulated: true }),
    };
  }
}

function mailAuthenticationOf({ rawData, incident }: Question): TriageTool {
  return {
    name: 'mail_authentication',
    description:
      'What SPF, DKIM and DMARC said about the mail. `said_by` tells whether the gateway reported it in a field of its own, or ' +
      'whether it stands in a header of the mail, which its sender may have written.',
    inputSchema: NO_INPUT,
    ask: async (input) => {
      if (Object.keys(input).length > 0) throw new ToolError('This tool takes no input.');
      return mailAuthentication({ ...incident.fields, ...rawData });
    },
  };
}

function shown(incident: Incident) {
  const { incident_number, incident_type, severity, status, title, created_at, verdict } = incident;
  return {
    incident_number,
    incident_type,
    severity,
    status,
    title,
    created_at: created_at.toISOString(),
    ...(verdict && {
      classification: verdict.classification,
      category: verdict.category,
      decided_by_person: incident.verdict_by_person,
    }),
  };
}

function untilAborted(gate: Gate, signal: AbortSignal): Gate {
  return {
    send: (request) =>
      gate.send((departure) =>
        request({
          signal: AbortSignal.any([departure.signal, signal]),
          leave: () => departure.leave(),
        }),
      ),
  };
}

export function indicatorOf(
  input: Readonly<Record<string, unknown>>,
  indicators: readonly ExtractedIndicator[],
): ExtractedIndicator {
  const isAlone = Object.keys(input).length === 1 && Object.hasOwn(input, 'indicator_id');
  const indicator = indicators.find(({ id }) => isAlone && id === input['indicator_id']);
  if (indicator) return indicator;
  throw new ToolError('The input must be {"indicator_id": …} with the id of an indicator.');
}

const TOOL_TIME_MS = 5_000;

/** Limits the time and the size of each answer. */
export function boundedTool(tool: TriageTool, timeMs = TOOL_TIME_MS): TriageTool {
  const ask: TriageTool['ask'] = async (input, signal) => {
    const late = AbortSignal.timeout(timeMs);
    const over = AbortSignal.any([signal, late]);
    try {
      return cutToSize(await unlessAborted(over, tool.ask(input, over)));
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw new ToolError(`There was no answer within ${timeMs} ms.`);
    }
  };
  return { ...tool, ask };
}

const ROOM = { longestText: 4_000, items: 100, depth: 12 } as const;

/** Halves texts and lists until the JSON is short enough. */
function cutToSize(answer: unknown): unknown {
  for (let characters = LONGEST_ANSWER_BYTES; characters > 0; characters >>= 1) {
    const cut = storedJson(answer, { ...ROOM, characters });
    const isShort =
      cut === undefined || Buffer.byteLength(harmlessJson(cut)) <= LONGEST_ANSWER_BYTES;
    if (isShort) return cut;
  }
  return null;
}
