import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { SecretMask } from '../../platform/masking/secret-mask.js';
import type { OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart, storable, visibleStart } from '../../platform/text.js';
import { isObject, ownOf } from '../../targets/target-config.js';

export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) value = isObject(value) ? ownOf(value, name) : undefined;
  return value;
}

/** Error messages never quote the actual value, which may be a secret. */
function reader<Value>(kind: string, isRight: (value: unknown) => value is Value) {
  return (json: unknown, ...path: readonly string[]): Value => {
    const value = valueAt(json, ...path);
    if (isRight(value)) return value;
    const message = `The answer is not as documented: it has no ${kind} at ${path.join('.')}.`;
    throw new OutcomeUnknownError(message, 'broken');
  };
}

const LONGEST_TEXT = 16_384;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const textAt = reader(
  'text',
  (value): value is string => isText(value) && value.length <= LONGEST_TEXT,
);
export const numberAt = reader('number', (value) => typeof value === 'number');
export const booleanAt = reader('true or false', (value) => typeof value === 'boolean');
export const listAt = reader('list', (value): value is readonly unknown[] => Array.isArray(value));

export function said(...values: readonly unknown[]): string | undefined {
  return values.filter(isText).join(', ') || undefined;
}

/** The vendor rejected the request, or a value does not fit into the request. The action had no effect. */
export class RefusedError extends Error {
  constructor(
    message: string,
    readonly status?: number,
    readonly code?: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

const LONGEST_EXCERPT = 200;
const MOST_DATA = 16_384;
const DEEPEST_DATA = 20;

export class AnswerRedactor {
  private readonly mask: SecretMask;

  constructor(secrets: readonly string[]) {
    this.mask = new SecretMask(secrets);
  }

  excerpt(answer: OutboundAnswer): string {
    const type = answer.header('content-type') ?? '';
    return /^(application\/(.*\+)?json|text\/plain)\b/.test(type) ? this.line(answer.text) : '';
  }

  line(text: string): string {
    // Masks secrets before it cuts and reformats the text, because masking would not find a changed secret.
    const line = this.mask.maskStart(text, MOST_DATA).replace(/\s+/g, ' ').trim();
    const shown = shownStart(line, LONGEST_EXCERPT);
    return line.length > LONGEST_EXCERPT ? `${shown}…` : shown;
  }

  data(answer: OutboundAnswer): unknown {
    if (answer.body.length > MOST_DATA) return undefined;
    return withTexts(answer.json, DEEPEST_DATA, (text) => storable(this.mask.mask(text)));
  }
}

/** Returns a copy with `replace` applied to every text, key and number. A number may be a secret, such as a PIN. */
function withTexts(value: unknown, depth: number, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value === 'number') {
    const text = replace(String(value));
    return text === String(value) ? value : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[too deep]';
  const within = (item: unknown) => withTexts(item, depth - 1, replace);
  if (Array.isArray(value)) return value.map(within);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [replace(key), within(item)]),
  );
}

const LONGEST_SHOWN = 1_000;
const MOST_SHOWN = 65_536;

// The functions below limit the vendor texts in results and checks, because each list returns many such texts.

export const shownMessage = (text: string): string => visibleStart(text, LONGEST_SHOWN);

export function shownData(
  data: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  if (data === undefined) return undefined;
  let left = MOST_SHOWN;
  const shown = (text: string): string => {
    const kept = visibleStart(text, Math.min(LONGEST_SHOWN, left));
    left -= kept.length;
    return kept;
  };
  return withTexts(data, DEEPEST_DATA, shown) as Record<string, unknown>;
}
