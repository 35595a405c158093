import { AppError } from '../errors/app-error.js';

export function readStrictJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new AppError('bad_request', 'The body is not valid JSON.');
  }
}
