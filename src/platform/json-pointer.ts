/** The steps of a JSON pointer (RFC 6901), or undefined when the text is none. The empty text leads to the whole value. */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text.slice(1).split('/').map(unescaped);
}

/** The pointer to a member of what `pointer` leads to. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${escaped(String(step))}`;
}

/**
 * What the steps lead to in a value of JSON, or undefined when they lead nowhere. They see what is in the value itself,
 * never its prototype, and not into a number that is kept as its digits.
 */
export function resolveSteps(value: unknown, steps: readonly string[]): unknown {
  let at: unknown = value;
  for (const step of steps) {
    at = next(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

/** What the text leads to as a pointer; undefined when it is none, and when it leads nowhere. */
export function resolvePointer(value: unknown, text: string): unknown {
  const steps = parsePointer(text);
  return steps && resolveSteps(value, steps);
}

/** In this order: `~01` stands for `~1`, and not for a slash. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** No zeros in front; and not `-`, which stands for the item after the last one. */
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

function next(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return undefined;
  if (Array.isArray(value)) return INDEX.test(step) ? (value[Number(step)] as unknown) : undefined;
  return Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
}

declare global {
  interface JSON {
    /** Node has it; the types of TypeScript do not yet. */
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}
