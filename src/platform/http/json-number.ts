const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** The largest double has 309 digits. */
const MOST_DIGITS = 309;
/** So many significant digits every double gives back as they were sent. */
const SAFE_DIGITS = 15;

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly significant: string;
  readonly exponent: number;
}

/**
 * Whether the number of this JSON token is the same when it is answered again. A fraction may be rounded; a whole number
 * may not, because whole numbers are ids and counts, which another value would falsify. That a double holds it is not
 * enough: 2^60 would be answered as 1152921504606847000, which a reader with larger integers takes for another number.
 */
export function isKept(token: string): boolean {
  const sent = decimalOf(token);
  if (!sent) return false;
  const { significant, exponent } = sent;
  if (significant === '') return true;
  if (significant.length + exponent > MOST_DIGITS) return false;
  if (exponent < 0) return true;
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  if (significant.length <= SAFE_DIGITS) return true;
  const answered = decimalOf(String(value));
  return answered?.significant === significant && answered.exponent === exponent;
}

function decimalOf(token: string): Decimal | undefined {
  const match = NUMBER.exec(token);
  if (!match) return undefined;
  const [, whole = '', fraction = '', power = '0'] = match;
  const { text, dropped } = withoutTrailingZeros(whole + fraction);
  return {
    significant: text.replace(/^0+/, ''),
    exponent: Number(power) - fraction.length + dropped,
  };
}

/** By hand: the pattern /0+$/ costs the square of the length on zeros that something else follows. */
function withoutTrailingZeros(text: string): { text: string; dropped: number } {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x30) end -= 1;
  return { text: text.slice(0, end), dropped: text.length - end };
}
