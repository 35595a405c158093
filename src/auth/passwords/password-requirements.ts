export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 256;

/**
 * The same password typed on another keyboard or system may arrive as other code points (a composed letter, a full
 * width digit): NFKC makes them one, before the length is counted and before anything is hashed.
 */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

/** In characters as a person counts them, not in UTF-16 units. */
export function hasPermittedLength(password: unknown): password is string {
  if (typeof password !== 'string' || password.length > 4 * LONGEST_PASSWORD) return false;
  const length = [...normalisePassword(password)].length;
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}
