export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;

/** Records say `system` where nobody in particular acted. */
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}
