import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/gate.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { AccessTokens } from '../../calls/access-tokens.js';
import { textAt } from '../../calls/answer-shape.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/refused.error.js';
import { vendorUrl } from '../../calls/url-parts.js';
import { VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { type Config, withDefaults } from '../../config/config-schema.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
} from '../../connector.port.js';
import { ConnectorType } from '../../connector-type.port.js';
import { foundSo, marked, nothingToUndo } from '../changed.js';
import { judgeTarget } from '../found-target.js';
import {
  type ContainmentAction,
  type ContainmentHandle,
  isContainmentAction,
  progressOf,
  standOf,
  WISHES,
} from './containment.js';
import { complaintIn, type Device, FalconApi } from './falcon-api.js';
import { FALCON_SCHEMA, type FalconConfig } from './falcon-config.js';
import { descriptionOf, scanOutcome, scanRequest } from './scans.js';

const ACTIONS: readonly ActionTypeName[] = ['isolate_host', 'unisolate_host', 'scan_host'];

/** Falcon accepts what it is asked for, and is done when the host has heard of it. */
export class CrowdstrikeFalconConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly falcon: FalconApi,
  ) {
    super(identity);
  }

  provides(type: ActionTypeName): boolean {
    return ACTIONS.includes(type);
  }

  /** A host that is contained twice is contained; each scan is another one. */
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
      // A conflict: somebody else asked for it, or for the contrary, a moment before.
      const { status } = await this.falcon.device(id, gate);
      const stand = standOf(type, id, status);
      if (!stand) throw error;
      return stand;
    }
    const handle: ContainmentHandle = { device_id: id, seen_under_way: false };
    return marked({ kind: 'accepted', message: 'Falcon has accepted it.', handle }, true);
  }
}

/** Of a rollback the host that was contained: another one may have its name by now. */
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
      // A second since 1970, as the vendor's own client reads it: https://github.com/CrowdStrike/gofalcon
      limitEndsIn: 'x-ratelimit-retryafter',
    });
    return new CrowdstrikeFalconConnector(identity, new FalconApi(api));
  }
}
