export interface TokenUse {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

/** Who is asked, and in which words. */
export interface Asked {
  /** The model that answers, as the provider names it; before it has, the one that is configured. `rules` for the scorer. */
  readonly model: string;
  /** SHA-256 in hex of all that the model is told beside the incident, so that runs of different wordings can be told apart. */
  readonly promptHash: string;
}

export const NO_TOKENS: TokenUse = { input: 0, output: 0, cachedInput: 0 };

/** More than any model reads or writes at once: such a number is a mistake, and must not empty the hour's budget. */
const MOST_TOKENS = 10_000_000;

/**
 * What an answer says was used: of a message, and of an error where it says it. All input counts, also what was read from
 * the provider's cache or written to it; `cachedInput` is the part that was read from there.
 */
export function tokensOf(answer: unknown): TokenUse {
  const usage = fieldOf(answer, 'usage');
  const cachedInput = countIn(usage, 'cache_read_input_tokens');
  return {
    input:
      countIn(usage, 'input_tokens') + countIn(usage, 'cache_creation_input_tokens') + cachedInput,
    output: countIn(usage, 'output_tokens'),
    cachedInput,
  };
}

export function sumOfTokens(one: TokenUse, other: TokenUse): TokenUse {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cachedInput: (one.cachedInput ?? 0) + (other.cachedInput ?? 0),
  };
}

/** Adds up what one attempt uses, as the provider says it, and who was asked: also of an attempt that is ended in the middle. */
export class TokenMeter {
  /** Undefined when it ended before anybody was asked. */
  asked: Asked | undefined;
  private sum = NO_TOKENS;

  /** Undefined when nothing was used. */
  get used(): TokenUse | undefined {
    return this.sum.input + this.sum.output > 0 ? this.sum : undefined;
  }

  asks(asked: Asked): void {
    this.asked = asked;
  }

  add(tokens: TokenUse): void {
    this.sum = sumOfTokens(this.sum, tokens);
  }
}

function countIn(usage: unknown, name: string): number {
  const count = fieldOf(usage, name);
  const sound = typeof count === 'number' && Number.isInteger(count);
  return sound && count >= 0 && count <= MOST_TOKENS ? count : 0;
}

/** Undefined for whatever is no object or has no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
