import type { IncomingMessage } from 'node:http';
import { type Reply, type Route, VendorServer } from './vendor-server.js';

/**
 * VirusTotal's API v3, as far as the connector uses it.
 * https://docs.virustotal.com/reference/overview, https://docs.virustotal.com/reference/errors,
 * https://docs.virustotal.com/reference/ip-info, https://docs.virustotal.com/reference/url-info
 */
export class VirusTotalServer extends VendorServer {
  readonly key = 'vt-key-0123456789abcdef';
  /** Known objects, by type and id. */
  readonly objects = new Map<string, object>();
  answered = 0;

  protected readonly routes: readonly Route[] = [
    ...['urls', 'domains', 'ip_addresses', 'files'].map((collection) => ({
      on: `GET /api/v3/${collection}/{id}`,
      answer: ({ path }: { path: Readonly<Record<string, string>> }) =>
        this.report(`${collection}/${path.id}`),
    })),
    {
      on: 'GET /api/v3/users/{id}',
      answer: ({ path }) =>
        path.id === this.key
          ? { status: 200, body: { data: { type: 'user', id: 'ada', attributes: {} } } }
          : this.notFound(),
    },
  ];

  get config() {
    return { base_url: `${this.url}/api/v3`, api_key: this.key };
  }

  override forget(): void {
    super.forget();
    this.objects.clear();
    this.answered = 0;
  }

  knows(place: string, stats: object, more: object = {}): void {
    const last_analysis_stats = { harmless: 60, undetected: 8, timeout: 0, ...stats };
    this.objects.set(place, { last_analysis_stats, ...more });
  }

  protected override isLetIn(headers: IncomingMessage['headers']): boolean {
    return headers['x-apikey'] === this.key;
  }

  protected errorOf(status: number, message: string): unknown {
    return { error: { code: status === 404 ? 'RouteError' : 'SomeError', message } };
  }

  private report(place: string): Reply {
    this.answered += 1;
    const attributes = this.objects.get(place);
    if (!attributes) return this.notFound();
    const [type, id] = place.split('/');
    return { status: 200, body: { data: { id, type, attributes } } };
  }

  private notFound(): Reply {
    const error = { code: 'NotFoundError', message: 'not found' };
    return { status: 404, body: { error } };
  }
}
