const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;
/** U+FFFD, which no id and no name contains. */
const UNREADABLE = '%EF%BF%BD';

/**
 * The address with something readable in place of percent-encoding in its path that stands for no text, or for NUL. The
 * router would refuse it before anybody has asked who the caller is; like this it is an id, or an address, that does not
 * exist. What is wrong with the query is said of the query.
 */
export function withReadablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path] = url.split('?', 1);
  return path!.replace(ESCAPES, readable) + url.slice(path!.length);
}

function readable(escapes: string): string {
  if (escapes.includes('%00')) return UNREADABLE;
  try {
    decodeURIComponent(escapes);
    return escapes;
  } catch {
    return UNREADABLE;
  }
}
