/** Both ends are in it. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

const NUMBER = String.raw`\d{1,20}(?:\.\d{1,20})?`;
const RANGE = new RegExp(`^(${NUMBER})(?:\\s*(-)\\s*(${NUMBER})?)?$`);

/** Reads `0-39`, `1.5-2`, `80-` for all from 80, or `7` for that number alone. Undefined for what is none of these. */
export function numberRange(text: string): NumberRange | undefined {
  const match = RANGE.exec(text.trim());
  if (!match) return undefined;
  const [, from, dash, to] = match;
  if (dash === undefined) return { from: Number(from), to: Number(from) };
  return { from: Number(from), to: to === undefined ? Infinity : Number(to) };
}

export function isWithin({ from, to }: NumberRange, value: number): boolean {
  return from <= value && value <= to;
}
