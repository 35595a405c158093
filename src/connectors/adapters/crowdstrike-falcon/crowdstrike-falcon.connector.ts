import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { AccessTokens } from '../../calls/access-tokens.js';
import { textAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { vendorUrl } from '../../calls/vendor-api.js';
import { VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { type Config, withDefaults } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  ConnectorType,
} from '../../connector-type.js';
import { foundSo, marked, nothingToUndo, judgeTarget } from '../../calls/undo.js';
import {
  complaintIn,
  type Device,
  FalconApi,
  FALCON_SCHEMA,
  type FalconConfig,
  type Scan,
} from './falcon-api.js';

/**
 * Containment of a host, by its `status`. The vendor does not document the values; its console and tools show these
 * four.
 */
type ContainmentStatus =
  'normal' | 'containment_pending' | 'contained' | 'lift_containment_pending';

interface Wish {
  /** Action name at the vendor. */
  readonly actionName: 'contain' | 'lift_containment';
  readonly done: ContainmentStatus;
  readonly underWay: ContainmentStatus;
  readonly inWords: string;
}

const WISHES = {
  isolate_host: {
    actionName: 'contain',
    done: 'contained',
    underWay: 'containment_pending',
    inWords: 'contained',
  },
  unisolate_host: {
    actionName: 'lift_containment',
    done: 'normal',
    underWay: 'lift_containment_pending',
    inWords: 'released from containment',
  },
} as const satisfies Readonly<Record<string, Wish>>;
type ContainmentAction = keyof typeof WISHES;

function isContainmentAction(type: string): type is ContainmentAction {
  return Object.hasOwn(WISHES, type);
}

/** Stored data for polling. */
interface ContainmentHandle extends Record<string, unknown> {
  readonly device_id: string;
  /** The vendor was seen working on it. If it later is neither in progress nor done, it was reverted. */
  readonly seen_under_way: boolean;
}

/** Outcome for the status of a host; `undefined` if the wanted change has not started. */
function standOf(type: ContainmentAction, deviceId: string, status: string): Outcome | undefined {
  const { done, underWay, inWords } = WISHES[type];
  if (status === done) {
    const data = { device_id: deviceId, status };
    return { kind: 'done', message: `The host is ${inWords}.`, data };
  }
  if (status !== underWay) return undefined;
  const handle: ContainmentHandle = { device_id: deviceId, seen_under_way: true };
  return { kind: 'accepted', message: `The host is about to be ${inWords}.`, handle };
}

/** Outcome of an accepted action. A host that is offline stays in progress until it is back. */
function progressOf(type: ContainmentAction, handle: ContainmentHandle, status: string): Outcome {
  const stand = standOf(type, handle.device_id, status);
  if (stand) return stand;
  // Shortly after its answer, the vendor still shows the old status.
  if (!handle.seen_under_way)
    return { kind: 'accepted', message: 'The vendor has not started yet.', handle };
  const message = `The action was reverted at the vendor: the host is ${JSON.stringify(status)}, not ${WISHES[type].inWords}.`;
  return { kind: 'refused', message };
}

const ACTIONS: readonly ActionTypeName[] = ['isolate_host', 'unisolate_host', 'scan_host'];

/** Falcon accepts an action first, and completes it when the host has received it. */
class CrowdstrikeFalconConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly falcon: FalconApi,
  ) {
    super(identity);
  }

  provides(type: ActionTypeName): boolean {
    return ACTIONS.includes(type);
  }

  /** Containing a host twice has the same effect. Each scan is a new one. */
  idempotent(type: ActionTypeName): boolean {
    return isContainmentAction(type);
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(async () => {
      const { type } = call;
      const nothing = nothingToUndo(call);
      if (nothing) return nothing;
      const device = await this.falcon.device(hostOf(call), gate);
      judgeTarget(call, device.hostname);
      if (isContainmentAction(type)) return await this.contain(call, type, device, gate);
      return scanOutcome(await this.falcon.createScan(gate, scanRequest(call, device.id)));
    });
  }

  override async poll(handle: Record<string, unknown>, { type }: ActionCall): Promise<Outcome> {
    if (!isContainmentAction(type)) {
      return scanOutcome(await this.falcon.scan(textAt(handle, 'scan_id')));
    }
    const kept = handle as ContainmentHandle;
    const { status } = await this.falcon.device(textAt(handle, 'device_id'));
    return marked(progressOf(type, kept, status), handle.changed);
  }

  override async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    const { type } = call;
    if (isContainmentAction(type)) {
      const { id, status } = await this.falcon.device(hostOf(call));
      return standOf(type, id, status) ?? 'unknown';
    }
    const id = await this.falcon.scanOf(descriptionOf(call));
    return id === undefined ? 'unknown' : scanOutcome(await this.falcon.scan(id));
  }

  test(): Promise<TestResult> {
    return testResult(async () => {
      await this.falcon.look();
      return 'Falcon accepts the credentials.';
    });
  }

  private async contain(
    call: ActionCall,
    type: ContainmentAction,
    device: Device,
    gate: Gate,
  ): Promise<Outcome> {
    const { id } = device;
    const already = standOf(type, id, device.status);
    if (already) return foundSo(already, call);
    try {
      await this.falcon.performAction(gate, WISHES[type].actionName, id);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 409) throw error;
      // A conflict: somebody requested the same or the opposite a moment before.
      const { status } = await this.falcon.device(id, gate);
      const stand = standOf(type, id, status);
      if (!stand) throw error;
      return stand;
    }
    const handle: ContainmentHandle = { device_id: id, seen_under_way: false };
    return marked({ kind: 'accepted', message: 'Falcon has accepted the action.', handle }, true);
  }
}

/** For a rollback: the id of the contained host, because another host may have its name now. */
function hostOf({ parameters, undoes }: ActionCall): string {
  return String(undoes?.device_id ?? parameters.host_id);
}

@Injectable()
export class CrowdstrikeFalconType extends ConnectorType {
  readonly name = 'crowdstrike_falcon';
  readonly description =
    'CrowdStrike Falcon: contains hosts, lifts their containment, and starts on-demand scans.';
  readonly actions = ACTIONS;
  readonly schema = FALCON_SCHEMA;
  readonly destinations = [{ address: 'base_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const all = withDefaults(this.schema, config) as unknown as FalconConfig;
    const { base_url, client_id, client_secret } = all;
    const secrets = [client_secret];
    const credentials = new AccessTokens(new VendorCalls(this.http), {
      url: vendorUrl(base_url, ['oauth2', 'token']),
      form: { client_id, client_secret },
      secrets,
    });
    const api = new VendorApi(new VendorCalls(this.http), {
      vendor: 'Falcon',
      baseUrl: base_url,
      credentials,
      secrets,
      complaintIn,
      // Unix time in seconds, as in the client of the vendor: https://github.com/CrowdStrike/gofalcon
      limitEndsIn: 'x-ratelimit-retryafter',
    });
    return new CrowdstrikeFalconConnector(identity, new FalconApi(api));
  }
}

/** Usual locations of files that users open or intruders drop. */
const QUICK = ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*'];
const EVERYTHING = ['*'];

const MODERATE = 2;
const DISABLED = 0;
const HALF_OF_THE_CPU = 3;
const HOURS = 2;

/** Identifies the scan of an action, because the vendor has no idempotency keys. */
function descriptionOf({ actionId }: ActionCall): string {
  return `Incident triage ${actionId}`;
}

/**
 * Request for a scan. It runs without approval, so it only reports findings without quarantine, and does not notify the
 * user of the host.
 */
function scanRequest(call: ActionCall, deviceId: string): object {
  return {
    hosts: [deviceId],
    host_groups: [],
    file_paths: call.parameters.scan_type === 'full' ? EVERYTHING : QUICK,
    scan_inclusions: [],
    scan_exclusions: [],
    description: descriptionOf(call),
    initiated_from: 'falcon_adhoc',
    quarantine: false,
    endpoint_notification: false,
    cpu_priority: HALF_OF_THE_CPU,
    max_duration: HOURS,
    pause_duration: HOURS,
    sensor_ml_level_detection: MODERATE,
    sensor_ml_level_prevention: DISABLED,
    cloud_ml_level_detection: MODERATE,
    cloud_ml_level_prevention: DISABLED,
  };
}

/**
 * The action is done when the scan has started, because a scan may take hours. It waits until the host is online. The
 * vendor documents no status values, so unknown ones mean waiting.
 */
function scanOutcome({ id, status }: Scan): Outcome {
  switch (status) {
    case 'running':
    case 'completed':
      return {
        kind: 'done',
        message: `The scan is ${status}.`,
        data: { scan_id: id, status },
      };
    case 'failed':
    case 'canceled':
      return { kind: 'refused', message: `The scan was ${status} at the vendor.` };
    default:
      return { kind: 'accepted', message: 'The scan has not begun.', handle: { scan_id: id } };
  }
}
