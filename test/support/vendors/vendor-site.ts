import timers from 'node:timers/promises';
import type { Config } from '../../../src/targets/target-config.js';
import type { Settings } from '../../../src/platform/config/settings.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import { OutboundHttp } from '../../../src/platform/net/outbound-http.js';
import type { Connector, ConnectorType, Outbound } from '../../../src/connectors/connector-type.js';
import { type PinnedAddress, Resolver, Targets } from '../../../src/platform/net/targets.js';
import { type ConfigDefinition, configProblems } from '../../../src/targets/target-check.js';

/** Targets that allow these private networks. */
export function targetsIn(allowedPrivateTargets: string[], resolver = new Resolver()): Targets {
  return new Targets(resolver, { allowedPrivateTargets } as unknown as Settings);
}

/** Resolves each name to the loopback. */
export class LocalResolver extends Resolver {
  lookups: string[] = [];

  override async resolve(host: string): Promise<PinnedAddress[]> {
    this.lookups.push(host);
    return [{ address: '127.0.0.1', family: 4 }];
  }
}

/** Fields and codes of the problems of a configuration, where private networks except 10.1.0.0/16 are forbidden. */
export function problemsOf(type: ConfigDefinition, config: Config): [string, string][] {
  const found = configProblems(type.config, config, 'config');
  const all =
    found.length > 0 ? found : type.problems(config, 'config', targetsIn(['10.1.0.0/16']));
  return all.map(({ field, code }) => [field, code]);
}

/** Outgoing HTTP of an adapter under test, which reaches the loopback. */
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

/** Counts what leaves, and refuses from some request on. */
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
  return type.connect(identity, config as Config, { wait, ...outbound } as Outbound);
}
