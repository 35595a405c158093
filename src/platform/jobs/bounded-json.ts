/** Refuses what is larger than it should be, where it is made and not where it is read; answers its size. */
export function requireBounded(what: string, value: unknown, maxBytes: number): number {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > maxBytes) {
    throw new RangeError(`${what} has ${bytes} bytes of JSON; ${maxBytes} are allowed.`);
  }
  return bytes;
}
