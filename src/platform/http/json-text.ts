import { isUtf8 } from 'node:buffer';
import { AppError } from '../errors/app-error.js';

/** JSON travels as UTF-8 (RFC 8259); bytes that are none would silently become other characters. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** A byte order mark is no JSON either: a sender that writes one should not get away with it in one place only. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error });
  }
}
