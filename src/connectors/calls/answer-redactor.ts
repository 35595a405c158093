import { SecretMask } from '../../platform/masking/secret-mask.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';

const LONGEST_EXCERPT = 200;
const MOST_DATA = 16_384;
const DEEPEST_DATA = 20;

/** Prepares answers of a vendor for display and storage: masks secrets, and replaces what PostgreSQL cannot store. */
export class AnswerRedactor {
  private readonly mask: SecretMask;

  constructor(secrets: readonly string[]) {
    this.mask = new SecretMask(secrets);
  }

  /** Beginning of the answer as one line; empty if it is neither text nor JSON. */
  excerpt(answer: OutboundAnswer): string {
    if (!/^(application\/(.*\+)?json|text\/plain)\b/.test(answer.header('content-type') ?? ''))
      return '';
    return this.line(answer.text);
  }

  /** Beginning of a text as one line. */
  line(text: string): string {
    // Masked first: a secret that was cut or reformatted would not be found.
    const line = this.mask.maskStart(text, MOST_DATA).replace(/\s+/g, ' ').trim();
    const shown = shownStart(line, LONGEST_EXCERPT);
    return line.length > LONGEST_EXCERPT ? `${shown}…` : shown;
  }

  /** JSON of the answer; `undefined` if the answer is long. */
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

/** Copy with every text, key and number replaced, in order. A number may be a secret, such as a PIN. */
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
