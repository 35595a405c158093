/** Parses a JSON pointer (RFC 6901). Returns `undefined` if the text is invalid. Empty text selects the whole value. */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return text.slice(1).split('/').map(unescaped);
}

export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${escaped(String(step))}`;
}

/** Ignores inherited members and the content of a raw JSON number. */
export function resolveSteps(value: unknown, steps: readonly string[]): unknown {
  let at: unknown = value;
  for (const step of steps) {
    at = next(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

export function resolvePointer(value: unknown, text: string): unknown {
  const steps = parsePointer(text);
  return steps && resolveSteps(value, steps);
}

/** Replaces `~1` before `~0`, because `~01` means `~1`, not a slash. */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Matches an index of a list. Rejects leading zeros, and `-`, which means the position after the last item. */
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

function next(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return undefined;
  if (Array.isArray(value)) return INDEX.test(step) ? (value[Number(step)] as unknown) : undefined;
  return Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
}

declare global {
  interface JSON {
    /* Node has these two functions, but the types of TypeScript do not have them yet. */
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    rawJSON(text: string): { readonly rawJSON: string };
  }
}
