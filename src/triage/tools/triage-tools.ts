import { Injectable } from '@nestjs/common';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import type { Incident } from '../../incidents/incident.js';
import { shownStart } from '../../platform/text.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator, IndicatorType } from '../evidence/indicators.js';
import { ToolError, type TriageTool } from '../model/triage-model.port.js';

interface Question {
  readonly runId: string;
  readonly incident: Incident;
  readonly indicators: readonly ExtractedIndicator[];
  readonly gate: Gate;
}

const LONGEST_DATA = 8_000;
const LOOKED_UP: readonly IndicatorType[] = ['url', 'domain', 'ip', 'hash'];
const lookUpOf = (type: IndicatorType) => `lookup_${type}` as ActionTypeName;

/** The questions that a model may ask in a run. They only read. */
@Injectable()
export class TriageTools {
  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
  ) {}

  async of(question: Question): Promise<TriageTool[]> {
    const types: IndicatorType[] = [];
    for (const type of LOOKED_UP) if (await this.connectorOf(type)) types.push(type);
    if (!question.indicators.some(({ type }) => types.includes(type))) return [];
    const description = `What threat intelligence says about an indicator of type ${types.join(', ')}.`;
    return [{ name: 'look_up', description, ask: (one) => this.lookUp(question, one) }];
  }

  /** Ignores sandboxes, because they invent responses. */
  private async connectorOf(type: IndicatorType): Promise<Connector | undefined> {
    if (!LOOKED_UP.includes(type)) return undefined;
    const connector = await this.registry.providerOf(lookUpOf(type));
    return connector?.simulates ? undefined : connector;
  }

  /** Looks up a target, unless the target is protected or the look-up needs an approval. */
  private async lookUp(
    { runId, incident, gate }: Question,
    { id, type: indicatorType, value }: ExtractedIndicator,
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
    const actionId = `triage-${runId}-${id}`;
    const call = { actionId, attempt: 1, type, parameters, mayTarget: () => true };
    const outcome = await connector.execute(call, gate);
    return {
      connector: connector.identity.name,
      answered: outcome.kind === 'done',
      message: shownMessage(outcome.message),
      ...(outcome.kind === 'done' && outcome.data && { data: startOf(outcome.data) }),
    };
  }
}

/** Returns longer data as the beginning of its JSON. */
function startOf(data: Readonly<Record<string, unknown>>): unknown {
  const shown = shownData(data);
  const json = JSON.stringify(shown);
  return json.length > LONGEST_DATA ? shownStart(json, LONGEST_DATA) : shown;
}
