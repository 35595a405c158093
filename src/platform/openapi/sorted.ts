/** The same value with the keys of every object in order, so that the committed document changes only by content. */
export function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sorted) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [
        key,
        key === 'required' && Array.isArray(child)
          ? (child as unknown[]).toSorted()
          : sorted(child),
      ]),
  ) as T;
}
