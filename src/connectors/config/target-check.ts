import type { FieldError } from '../../platform/errors/app-error.js';
import type { Targets } from '../../platform/net/targets.js';
import type { Config, ConfigSchema } from './config-schema.js';

/**
 * The addresses of a configuration that no call would ever reach. A name may lead elsewhere tomorrow, so it is judged at
 * each call; what is an address already can be refused when it is saved.
 */
export function targetProblems(
  schema: ConfigSchema,
  config: Config,
  path: string,
  targets: Targets,
): FieldError[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = config[name];
    if (property.type !== 'string' || property.format !== 'uri' || typeof value !== 'string') {
      return [];
    }
    const refusal = targets.refusalOfAddress(new URL(value).hostname);
    const field = `${path}.${name}`;
    return refusal ? [{ field, code: 'target_refused', message: `${field}: ${refusal}` }] : [];
  });
}
