import type { LookupAddress } from 'node:dns';
import timers from 'node:timers/promises';
import type { Config } from '../../../src/targets/target-config.js';
import type { Settings } from '../../../src/platform/config/settings.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import { OutboundHttp } from '../../../src/platform/net/outbound-http.js';
import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import {
  type ActionCall,
  type Connector,
  connectorOf,
  type ConnectorType,
} from '../../../src/connectors/connector-type.js';
import type { Outbound } from '../../../src/connectors/calls/vendor-calls.js';
import type { VendorServer } from './vendor-server.js';
import { Resolver, Targets } from '../../../src/platform/net/targets.js';
import { allProblems, type TargetType } from '../../../src/targets/target-check.js';

/** Targets that allow these private networks. */
export function targetsIn(allowedPrivateTargets: string[], resolver = new Resolver()): Targets {
  return new Targets(resolver, { allowedPrivateTargets } as unknown as Settings);
}

/** Resolves each name to the loopback. */
export class LocalResolver extends Resolver {
  lookups: string[] = [];

  override async resolve(host: string): Promise<LookupAddress[]> {
    this.lookups.push(host);
    return [{ address: '127.0.0.1', family: 4 }];
  }
}

/**
 * Returns the fields and codes of the problems of a configuration. Private networks except 10.1.0.0/16 are forbidden.
 */
export function problemsOf(type: TargetType, config: Config): [string, string][] {
  const found = allProblems(type, config, targetsIn(['10.1.0.0/16']));
  return found.map(({ field, code }) => [field, code]);
}

/** HTTP client of an adapter under test, which can reach the loopback. */
export class SiteHttp extends OutboundHttp {
  /** Shortens the timeout of each request, for a vendor that never answers. */
  hasty = false;

  constructor() {
    super(targetsIn(['127.0.0.0/8']));
  }

  override request(request: Parameters<OutboundHttp['request']>[0]) {
    return super.request(this.hasty ? { ...request, timeoutMs: 400 } : request);
  }
}

const LONGEST_WAIT_MS = 5;

/** Shortens the waits between attempts of a connector during the suite. */
export function shortenWaits(): void {
  const sleep = timers.setTimeout;
  beforeAll(() => {
    timers.setTimeout = (ms, value, options) =>
      sleep(Math.min(ms ?? 0, LONGEST_WAIT_MS), value, options);
  });
  afterAll(() => {
    timers.setTimeout = sleep;
  });
}

/** Counts the sent requests. Rejects request number `refuseFrom` and all later requests. */
export class CountingGate implements Gate {
  left = 0;
  refuseFrom = Infinity;

  send<T>(request: Parameters<Gate['send']>[0]): Promise<T> {
    const leave = async (): Promise<void> => {
      if (this.left + 1 >= this.refuseFrom) throw new Error('the switch is on');
      this.left += 1;
    };
    return request({ signal: new AbortController().signal, leave }) as Promise<T>;
  }
}

/** A connector of the type with these settings. It does not wait between attempts. */
export function connectTo(
  type: ConnectorType,
  config: object,
  outbound: object,
  wait: (ms: number) => Promise<unknown> = async () => undefined,
): Connector {
  const identity = { id: 'c', name: 'the vendor', type: type.name };
  return connectorOf(type, identity, config as Config, { wait, ...outbound } as Outbound);
}

/**
 * Starts a simulated vendor for a suite and connects to it before each test. A test fails if a request differs from the
 * documentation of the vendor.
 */
export function useVendor<Server extends VendorServer & { readonly config: object }>(
  type: ConnectorType,
  server: Server,
) {
  const gate = new CountingGate();
  const http = new SiteHttp();
  const site = {
    server,
    gate,
    http,
    connector: undefined as unknown as Connector,
    /** Connects with other settings. */
    connect: (more: object = {}): Connector =>
      (site.connector = connectTo(type, { ...server.config, ...more }, { http })),
    execute: (call: ActionCall) => site.connector.execute(call, gate),
    /** Expects that each action on a target with a protected name is refused. */
    expectProtection: async (calls: readonly ActionCall[], name: string) => {
      const asked: unknown[] = [];
      const mayTarget = (one?: string) => asked.push(one) === 0;
      for (const call of calls) {
        const outcome = await site.execute({ ...call, mayTarget });
        expect(outcome).toMatchObject({ kind: 'refused' });
        expect(outcome.message).toContain(`"${name}" is a protected target.`);
      }
      expect(asked).toEqual(calls.map(() => name));
    },
  };
  beforeAll(() => server.start());
  beforeEach(() => {
    server.forget();
    gate.left = 0;
    gate.refuseFrom = Infinity;
    http.hasty = false;
    site.connect();
  });
  afterEach(() => expect(server.problems).toEqual([]));
  afterAll(() => server.stop());
  return site;
}

/** Returns a call of an action. By default, it is the first attempt and may target everything. */
export function callOf(
  type: ActionTypeName,
  parameters: ActionCall['parameters'],
  more: Partial<ActionCall> = {},
): ActionCall {
  return { actionId: 'act-1', attempt: 1, mayTarget: () => true, type, parameters, ...more };
}
