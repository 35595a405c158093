export interface Block {
  readonly commands: string;
  /** Expected output: the block right after the shell block. */
  readonly shown?: string;
}

const FENCE = /^```(\w+)\n([\s\S]*?)^```$/gm;

/** Returns the shell blocks of a Markdown document with the JSON or text that the document shows after them. */
export function shellBlocks(markdown: string): Block[] {
  const fences = [...markdown.matchAll(FENCE)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));
  return fences.flatMap((fence, index) => {
    if (fence.language !== 'sh') return [];
    const next = fences[index + 1];
    const answers = next && ['json', 'text'].includes(next.language);
    const follows = answers && markdown.slice(fence.end, next.start).trim() === '';
    return [{ commands: fence.text.trim(), ...(follows && { shown: next.text.trim() }) }];
  });
}

const CHANGING: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/its_[A-Za-z0-9]{8}(_[\w-]{43})?/g, '<key>'],
  [/\d+/g, '<n>'],
];

/** Removes values that differ between runs: ids, times, hashes, keys and numbers. */
function lasting(text: string): string {
  return CHANGING.reduce((rest, [pattern, word]) => rest.replace(pattern, word), text);
}

/** Compares two outputs without the values that differ between runs. JSON is compared by content. */
export function sameAnswer(shown: string, actual: string): boolean {
  return lasting(layout(shown)) === lasting(layout(actual));
}

function layout(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text.trim();
  }
}
