import { SecretMask } from '../../platform/masking/secret-mask.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';

const LONGEST_EXCERPT = 200;
const MOST_DATA = 16_384;
const DEEPEST_DATA = 20;

/** What may be shown and stored of a vendor's answer: the secrets that it repeats are masked, and PostgreSQL can store the rest. */
export class AnswerRedactor {
  private readonly mask: SecretMask;

  constructor(secrets: readonly string[]) {
    this.mask = new SecretMask(secrets);
  }

  /** The beginning of the answer as one line; empty when it is neither text nor JSON. */
  excerpt(answer: OutboundAnswer): string {
    if (!/^(application\/(.*\+)?json|text\/plain)\b/.test(answer.header('content-type') ?? ''))
      return '';
    return this.line(answer.text);
  }

  /** The beginning of what a vendor said as one line. */
  line(text: string): string {
    // Masked before it is cut and its spaces are collapsed: a secret that is changed by that is not found any more.
    const line = this.mask.maskStart(text, MOST_DATA).replace(/\s+/g, ' ').trim();
    const shown = shownStart(line, LONGEST_EXCERPT);
    return line.length > LONGEST_EXCERPT ? `${shown}…` : shown;
  }

  /** The JSON of the answer; undefined when the answer is long. */
  data(answer: OutboundAnswer): unknown {
    if (answer.body.length > MOST_DATA) return undefined;
    const { json } = answer;
    const texts: string[] = [];
    withTexts(json, DEEPEST_DATA, (text) => {
      texts.push(text);
      return text;
    });
    const masked = this.mask.maskAll(texts)[Symbol.iterator]();
    return withTexts(json, DEEPEST_DATA, () => masked.next().value ?? '');
  }
}

/** A copy in which every text, key and number is replaced, in the order in which they come. A number may be a secret, such as a PIN. */
function withTexts(value: unknown, depth: number, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value === 'number') {
    const text = replace(String(value));
    return text === String(value) ? value : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => withTexts(item, depth - 1, replace));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [replace(key), withTexts(item, depth - 1, replace)]),
  );
}
