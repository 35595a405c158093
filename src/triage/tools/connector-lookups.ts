import { Injectable } from '@nestjs/common';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { IndicatorType } from '../evidence/indicator.js';
import { ToolError, type TriageTool } from '../model/triage-model.port.js';
import { INDICATOR_INPUT, indicatorOf, type Question } from './tool-rules.js';

/** The look-up for a kind of indicator, and its one parameter. */
const LOOKUPS: Partial<Record<IndicatorType, { type: ActionTypeName; parameter: string }>> = {
  url: { type: 'lookup_url', parameter: 'url' },
  domain: { type: 'lookup_domain', parameter: 'domain' },
  ip: { type: 'lookup_ip', parameter: 'ip' },
  hash: { type: 'lookup_hash', parameter: 'hash' },
};

/**
 * The look-ups of the enabled connectors. What leaves the house is an indicator that code extracted, in the parameter of a
 * look-up; a target that this site protects, or a look-up that needs approval here, is not looked up for a model.
 */
@Injectable()
export class ConnectorLookups {
  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
  ) {}

  /** Undefined when nobody real can be asked about any of the indicators. */
  async toolFor(question: Question): Promise<TriageTool | undefined> {
    const types = await this.typesLookedUp();
    if (!question.indicators.some(({ type }) => types.includes(type))) return undefined;
    return {
      name: 'look_up',
      description: `What threat intelligence says about an indicator of type ${types.join(', ')}.`,
      inputSchema: INDICATOR_INPUT,
      ask: (input, signal) => this.lookUp(question, input, signal),
    };
  }

  /** A sandbox makes its answers up: a model would take them for what is known. */
  private async typesLookedUp(): Promise<string[]> {
    const types: string[] = [];
    for (const [indicator, { type }] of Object.entries(LOOKUPS)) {
      const connector = await this.registry.providerOf(type);
      if (connector && !connector.simulates) types.push(indicator);
    }
    return types;
  }

  private async lookUp(
    { runId, incident, indicators, gate }: Question,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const indicator = indicatorOf(input, indicators);
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
    if (!connector || connector.simulates)
      throw new ToolError(`No enabled connector provides ${type}.`);
    const call = {
      actionId: `triage-${runId}-${indicator.id}`,
      attempt: 1,
      type,
      parameters,
      // What is looked up is named by itself, and was judged before.
      mayTarget: () => true,
    };
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

/** The same door, for requests that nobody waits for once the signal is aborted. */
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
