import { resolveSteps } from '../../platform/json-pointer.js';
import type { Json } from '../reading/json.js';

export { parsePointer } from '../../platform/json-pointer.js';

/** What the steps lead to in an event, or undefined when they lead nowhere. */
export function resolve(value: Json, steps: readonly string[]): Json | undefined {
  return resolveSteps(value, steps) as Json | undefined;
}
