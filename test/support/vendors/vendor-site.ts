import type { Settings } from '../../../src/platform/config/settings.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import { OutboundHttp } from '../../../src/platform/net/outbound-http.js';
import { Resolver, Targets } from '../../../src/platform/net/targets.js';

const targets = new Targets(new Resolver(), {
  allowedPrivateTargets: ['127.0.0.0/8'],
} as unknown as Settings);

/** The way out for an adapter in a test: to loopback, and with little patience where the vendor never answers. */
export class SiteHttp extends OutboundHttp {
  hasty = false;

  constructor() {
    super(targets);
  }

  override request(request: Parameters<OutboundHttp['request']>[0]) {
    return super.request(this.hasty ? { ...request, timeoutMs: 1_500 } : request);
  }
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
