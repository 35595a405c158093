const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** The largest double has 309 digits. */
const MOST_DIGITS = 309;
const SAFE_DIGITS = 15;
/** 5^22 is the largest power of five below 2^53. */
const MOST_FIVES = 22;

/**
 * Whether a double holds the number of this JSON token: a fraction may be rounded, a whole number may not, because
 * whole numbers are ids and counts, which another value would falsify.
 */
export function isHeldExactly(token: string): boolean {
  const match = NUMBER.exec(token);
  if (!match) return false;
  const [, whole = '', fraction = '', power = '0'] = match;
  const digits = withoutTrailingZeros(whole + fraction);
  const significant = digits.text.replace(/^0+/, '');
  if (significant === '') return true;
  const exponent = Number(power) - fraction.length + digits.dropped;
  if (significant.length + exponent > MOST_DIGITS) return false;
  if (exponent < 0) return true;
  if (significant.length <= SAFE_DIGITS) return fitsMantissa(Number(significant), exponent);
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const magnitude = BigInt(significant) * 10n ** BigInt(exponent);
  return BigInt(Math.abs(value)) === magnitude;
}

/**
 * Whether digits * 10^exponent has an odd part of at most 53 bits, without the cost of BigInt: a body can hold a hundred
 * thousand such numbers.
 */
function fitsMantissa(digits: number, exponent: number): boolean {
  if (exponent > MOST_FIVES) return false;
  let odd = digits;
  while (odd % 2 === 0) odd /= 2;
  for (let fives = 0; fives < exponent; fives += 1) odd *= 5;
  return odd <= Number.MAX_SAFE_INTEGER;
}

/** By hand: the pattern /0+$/ costs the square of the length on zeros that something else follows. */
function withoutTrailingZeros(text: string): { text: string; dropped: number } {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x30) end -= 1;
  return { text: text.slice(0, end), dropped: text.length - end };
}
