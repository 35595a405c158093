import type { OutboundAnswer } from '../../../common/net/outbound-request.js';
import { shownStart, storable } from '../../../common/text.js';

const LONGEST_EXCERPT = 200;
const MOST_DATA = 16_384;
/** Shorter ones are ordinary words or digits, whose every occurrence would be blotted out. */
const SHORTEST_SECRET = 6;

/** Shows of a vendor's answer what may be shown: no secret that it echoes, nothing that PostgreSQL cannot store. */
export class VendorText {
  private readonly secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.secrets = secrets
      .filter(({ length }) => length >= SHORTEST_SECRET)
      .sort((one, other) => other.length - one.length);
  }

  /** One short line; empty when there is nothing that people read. */
  excerpt(answer: OutboundAnswer): string {
    if (!/^(application\/(.*\+)?json|text\/plain)\b/.test(answer.header('content-type') ?? ''))
      return '';
    const line = answer.text.slice(0, MOST_DATA).replace(/\s+/g, ' ').trim();
    const shown = this.clean(line);
    return shown.length > LONGEST_EXCERPT ? `${shownStart(shown, LONGEST_EXCERPT)}…` : shown;
  }

  /** The answer's JSON, unless it is long. */
  data(answer: OutboundAnswer): unknown {
    if (answer.body.length > MOST_DATA) return undefined;
    return this.cleanJson(answer.json, 20);
  }

  clean(text: string): string {
    let clean = text;
    for (const secret of this.secrets) clean = clean.replaceAll(secret, '[secret]');
    return storable(clean);
  }

  private cleanJson(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.clean(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0) return '[too deep]';
    if (Array.isArray(value)) return value.map((item) => this.cleanJson(item, depth - 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        this.clean(key),
        this.cleanJson(item, depth - 1),
      ]),
    );
  }
}
