import { Injectable } from '@nestjs/common';
import { ValidationError } from '../../common/errors/app-error.js';
import { Targets } from '../../common/net/targets.js';
import { SecretBox } from '../../secrets/secret-box.js';
import type { ConnectorType } from '../connector-type.port.js';
import { configProblems } from './config-check.js';
import { secretNames, splitConfig } from './config-parts.js';
import type { Config } from './config-schema.js';
import { targetProblems } from './target-check.js';

export interface StoredConfig {
  readonly config: Config;
  readonly sealed: string | undefined;
  readonly secretNames: readonly string[];
}

/** Takes a configuration apart for storing, its secrets sealed to their connector, and puts it together again. */
@Injectable()
export class SealedConfig {
  constructor(
    private readonly box: SecretBox,
    private readonly targets: Targets,
  ) {}

  /** Throws a ValidationError that names each wrong field. */
  seal(type: ConnectorType, id: string, config: Config): StoredConfig {
    const schemaProblems = configProblems(type.schema, config, 'config');
    const problems =
      schemaProblems.length > 0
        ? schemaProblems
        : [
            ...targetProblems(type.schema, config, 'config', this.targets),
            ...type.problems(config, 'config'),
          ];
    if (problems.length > 0) throw new ValidationError(problems);
    const { open, secrets } = splitConfig(type.schema, config);
    const names = secretNames(type.schema, secrets);
    return {
      config: open,
      sealed: names.length > 0 ? this.box.seal(JSON.stringify(secrets), contextOf(id)) : undefined,
      secretNames: names,
    };
  }

  open(id: string, { config, sealed }: { config: Config; sealed?: string }): Config {
    const secrets =
      sealed === undefined ? {} : (JSON.parse(this.box.open(sealed, contextOf(id))) as Config);
    return { ...config, ...secrets };
  }
}

function contextOf(id: string): string {
  return `connector:${id}`;
}
