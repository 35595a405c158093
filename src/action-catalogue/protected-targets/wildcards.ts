/** Whether the text matches the pattern, in which `*` stands for any number of characters. It reads the text once, whatever the pattern is. */
export function matches(pattern: string, text: string): boolean {
  const wanted = pattern.split('*');
  const first = wanted[0]!;
  const last = wanted.at(-1)!;
  if (wanted.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) {
    return false;
  }
  let at = first.length;
  const end = text.length - last.length;
  for (const part of wanted.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Whether the pattern matches everything. */
export function isOnlyWildcards(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}
