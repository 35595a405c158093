/** Whether the text is what the pattern says, with `*` for any run of characters. It never goes back, whatever the pattern is. */
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

/** It stands for everything. */
export function isOnlyWildcards(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}
