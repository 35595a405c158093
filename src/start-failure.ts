interface Failure {
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly path?: unknown;
}

/** What the system says of a file in a word, as a sentence that names the file. */
const SENTENCES: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `${path} may not be used by this user: change its owner or rights.`,
  EEXIST: (path) => `${path} is a file where a folder is needed.`,
  EISDIR: (path) => `${path} is a folder where a file is needed.`,
  ENOENT: (path) => `${path} does not exist.`,
  ENOSPC: (path) => `There is no room left for ${path}.`,
  ENOTDIR: (path) => `${path} is below something that is no folder.`,
  EPERM: (path) => `${path} may not be changed by this user.`,
  EROFS: (path) => `${path} is on a file system that is read-only.`,
};

/** Why the start failed, in words that an operator can act on. */
export function inOneSentence(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { cause, message }: Failure = error;
  return sentenceOf(error) ?? sentenceOf(cause ?? {}) ?? String(message);
}

function sentenceOf({ code, path }: Failure): string | undefined {
  const sentence = typeof code === 'string' ? SENTENCES[code] : undefined;
  return sentence && typeof path === 'string' ? sentence(path) : undefined;
}
