import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

interface Failure {
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly path?: unknown;
}

/** Messages for system error codes of files. */
const SENTENCES: Readonly<Record<string, (path: string) => string>> = {
  EACCES: inaccessible,
  EEXIST: (path) => `${path} is a file, but a folder is required.`,
  EISDIR: (path) => `${path} is a folder, but a file is required.`,
  ENOENT: (path) => `${path} does not exist.`,
  ENOSPC: (path) => `There is no space left for ${path}.`,
  ENOTDIR: (path) => `${path} is below a path that is not a folder.`,
  EPERM: (path) => `${path} cannot be changed by this user.`,
  EROFS: (path) => `${path} is on a read-only file system.`,
};

function inaccessible(path: string): string {
  const remedy = 'change its owner or permissions.';
  if (existsSync(path)) return `${path} is not accessible to this user: ${remedy}`;
  let folder = dirname(resolve(path));
  while (!existsSync(folder)) folder = dirname(folder);
  return `${path} does not exist, and this user cannot create it in ${folder}: ${remedy}`;
}

/** Reason of a failed start or command, in one sentence for the operator. */
export function inOneSentence(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { cause, message }: Failure = error;
  return sentenceOf(error) ?? sentenceOf(cause ?? {}) ?? String(message);
}

function sentenceOf({ code, path }: Failure): string | undefined {
  const sentence = typeof code === 'string' ? SENTENCES[code] : undefined;
  return sentence && typeof path === 'string' ? sentence(path) : undefined;
}
