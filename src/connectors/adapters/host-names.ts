/** Narrower than what hosts may be called: nothing of it means anything in a path or a query language of a vendor. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]{0,252})$/i;

export function isHostName(text: string): boolean {
  return HOST_NAME.test(text);
}

/** Whether a host that a vendor calls `found` is meant by that name: a name without a domain means it in any. */
export function isNamed(found: unknown, name: string): boolean {
  if (typeof found !== 'string') return false;
  const [one, other] = [found.toLowerCase(), name.toLowerCase()];
  return one === other || (!other.includes('.') && one.startsWith(`${other}.`));
}
