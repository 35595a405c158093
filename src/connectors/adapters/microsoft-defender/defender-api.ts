import type { Gate } from '../../../platform/net/gate.js';
import { listAt, textAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import { isHostName, isNamed } from '../host-names.js';
import type { MachineAction } from './machine-actions.js';

export interface Machine {
  readonly id: string;
  /** Missing where the sensor has not told it. */
  readonly name: unknown;
}

const MACHINE_ID = /^[0-9a-f]{40}$/i;
const LATEST = '50';

/** The requests at Microsoft Defender for Endpoint. One without a gate only asks, for a poll, a probe or a test. */
export class DefenderApi {
  constructor(private readonly api: VendorApi) {}

  /** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machine-by-id: by its id or its name. */
  async machine(hostId: string, gate?: Gate): Promise<Machine> {
    if (!isHostName(hostId)) throw new RefusedError('host_id is neither an id nor a name.');
    const path = ['api', 'machines', hostId];
    const found = await this.api.ask(gate, { method: 'GET', path }, (json) => ({
      id: textAt(json, 'id'),
      name: valueAt(json, 'computerDnsName'),
    }));
    const isMeant = found.id.toLowerCase() === hostId.toLowerCase() || isNamed(found.name, hostId);
    if (!isMeant || !MACHINE_ID.test(found.id)) {
      throw new RefusedError('Defender knows no such host.');
    }
    return found;
  }

  /** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineactions-collection: the latest come first. */
  async actionsOn(machineId: string, gate?: Gate): Promise<MachineAction[]> {
    const query = { $filter: `machineId eq '${machineId}'`, $top: LATEST };
    const path = ['api', 'machineactions'];
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) =>
      listAt(json, 'value').map(readAction),
    );
  }

  /** https://learn.microsoft.com/en-us/defender-endpoint/api/get-machineaction-object */
  async action(id: string): Promise<MachineAction> {
    const path = ['api', 'machineactions', id];
    return await this.api.ask(undefined, { method: 'GET', path }, readAction);
  }

  async command(
    gate: Gate,
    machineId: string,
    command: string,
    body: object,
    idempotent: boolean,
  ): Promise<MachineAction> {
    const path = ['api', 'machines', machineId, command];
    return await this.api.change(gate, { method: 'POST', path, body, idempotent }, readAction);
  }

  /** Whether the vendor lets in who asks. */
  async look(): Promise<void> {
    const query = { $top: '1' };
    await this.api.ask(undefined, { method: 'GET', path: ['api', 'machines'], query }, (json) =>
      listAt(json, 'value'),
    );
  }
}

export function complaintIn(json: unknown): string | undefined {
  if (valueAt(json, 'error') === undefined) return undefined;
  const message = valueAt(json, 'error', 'message');
  return typeof message === 'string' && message !== '' ? message : 'an error without a message';
}

function readAction(json: unknown): MachineAction {
  const comment = valueAt(json, 'requestorComment');
  const createdAt = Date.parse(textAt(json, 'creationDateTimeUtc'));
  return {
    id: textAt(json, 'id'),
    type: textAt(json, 'type'),
    status: textAt(json, 'status'),
    machineId: textAt(json, 'machineId'),
    comment: typeof comment === 'string' ? comment : '',
    createdAt: Number.isNaN(createdAt) ? 0 : createdAt,
  };
}
