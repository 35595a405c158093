import { Injectable } from '@nestjs/common';
import { type FieldError, ValidationError } from '../../platform/errors/app-error.js';
import { Targets } from '../../platform/net/targets.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { configProblems } from './config-check.js';
import { changeConfig, type Config, secretNames, splitConfig } from './config-schema.js';
import {
  type ConfigDefinition,
  secretsNotGivenAgain,
  originsOf,
  plainTextProblems,
  secretRequiredError,
  refusedTargetProblems,
} from './destinations.js';
import { twinNameProblems } from './map-names.js';
import type { SealedColumn } from '../../platform/secrets/sealed-values.js';

export interface StoredConfig {
  readonly config: Config;
  readonly sealed: string | undefined;
  readonly secretNames: readonly string[];
}

export interface ChangedConfig extends StoredConfig {
  /** Where secrets went and where they go now, as scheme, host and port, when the change moved them. */
  readonly moved?: { readonly from: readonly string[]; readonly to: readonly string[] };
}

type Sealed = Pick<StoredConfig, 'config'> & { readonly sealed?: string };

/**
 * Splits a configuration for storing into what may be read and the sealed secrets, and puts the two together again. What
 * was sealed for one connector can be opened for no other.
 */
@Injectable()
export class SealedConfig {
  constructor(
    protected readonly box: SecretBox,
    private readonly targets: Targets,
  ) {}

  /** Throws a ValidationError that names each wrong field. */
  checkAndSeal(kind: ConfigDefinition, id: string, config: Config): StoredConfig {
    const schemaProblems = configProblems(kind.schema, config, 'config');
    const problems =
      schemaProblems.length > 0
        ? schemaProblems
        : [
            ...twinNameProblems(kind.schema, config, 'config'),
            ...refusedTargetProblems(kind.schema, config, 'config', this.targets),
            ...this.unencryptedSecretProblems(kind, config),
            ...kind.problems(config, 'config'),
          ];
    if (problems.length > 0) throw new ValidationError(problems);
    const { readable, secrets } = splitConfig(kind.schema, config);
    const names = secretNames(kind.schema, secrets);
    return {
      config: readable,
      sealed:
        names.length > 0 ? this.box.seal(JSON.stringify(secrets), this.contextOf(id)) : undefined,
      secretNames: names,
    };
  }

  /** The configuration after a partial change. When the change moves where secrets go, all of them must be given again. */
  change(kind: ConfigDefinition, id: string, stored: Sealed, change: Config): ChangedConfig {
    // Beforehand: of two spellings in one change the merged configuration has one.
    const twins = twinNameProblems(kind.schema, change, 'config');
    if (twins.length > 0) throw new ValidationError(twins);
    const before = this.open(id, stored);
    const after = changeConfig(kind.schema, before, change);
    const content = this.checkAndSeal(kind, id, after);
    const [from, to] = [originsOf(kind, before), originsOf(kind, after)];
    if (from.every((origin, index) => origin === to[index])) return content;
    const missing = secretsNotGivenAgain(kind.schema, before, change);
    if (missing.length > 0) {
      throw new ValidationError(missing.map((name) => secretRequiredError('config', name)));
    }
    return { ...content, moved: { from, to } };
  }

  /** See plainTextProblems. */
  unencryptedSecretProblems(kind: ConfigDefinition, config: Config): FieldError[] {
    return plainTextProblems(kind, config, 'config');
  }

  open(id: string, { config, sealed }: Sealed): Config {
    const secrets =
      sealed === undefined ? {} : (JSON.parse(this.box.open(sealed, this.contextOf(id))) as Config);
    return { ...config, ...secrets };
  }

  /** What a sealed value is bound to. */
  protected contextOf(id: string): string {
    return contextOf(id);
  }
}

export function contextOf(id: string): string {
  return `connector:${id}`;
}

/**
 * Where the secrets are stored. When the key that sealed them is lost they are discarded, and the connector is disabled,
 * because without secrets it would call its vendor unauthenticated.
 */
export const CONNECTOR_SECRETS: SealedColumn = {
  table: 'connectors',
  column: 'secrets',
  id: ['id'],
  where: 'secrets is not null',
  context: ({ id }) => contextOf(id!),
  discard: `update connectors set secrets = null, secret_names = '{}', enabled = false,
    version = version + 1, updated_at = now()`,
};
