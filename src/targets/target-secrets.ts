import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { ValidationError } from '../platform/errors/app-error.js';
import { Targets } from '../platform/net/targets.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import {
  allProblems,
  type ConfigDefinition,
  originsOf,
  problemAt,
  secretsNotGivenAgain,
  twinNameProblems,
} from './target-check.js';
import { changeConfig, type Config, secretNames, splitConfig } from './target-config.js';
import type { TargetRow } from './target-rows.js';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';

type StoredConfig = Pick<TargetRow, 'config' | 'secrets' | 'secret_names'>;

interface ChangedConfig extends StoredConfig {
  /** Previous and new destination of secrets, as scheme, host and port, if it changed. */
  readonly moved?: { readonly from: readonly string[]; readonly to: readonly string[] };
}

type Sealed = Pick<StoredConfig, 'config' | 'secrets'>;

/**
 * Splits a configuration into a readable part and sealed secrets, and joins them again. Secrets that were sealed for
 * one target cannot be opened for another.
 */
@Injectable()
export class SealedConfig {
  /** First part of the context of sealed values. */
  protected readonly owner: string = 'connector';

  constructor(
    protected readonly box: SecretBox,
    private readonly targets: Targets,
  ) {}

  /** Throws a ValidationError that names each invalid field. */
  checkAndSeal(kind: ConfigDefinition, id: string, config: Config): StoredConfig {
    const problems = allProblems(kind, config, this.targets);
    if (problems.length > 0) throw new ValidationError(problems);
    const { readable, secrets } = splitConfig(kind.config, config);
    const names = secretNames(kind.config, secrets);
    return {
      config: readable,
      secrets: names.length > 0 ? this.box.seal(JSON.stringify(secrets), this.contextOf(id)) : null,
      secret_names: names,
    };
  }

  /** Applies a partial change. If it changes the destination of secrets, all secrets must be given again. */
  change(kind: ConfigDefinition, id: string, stored: Sealed, change: Config): ChangedConfig {
    // Checked first, because merging would hide one of two spellings.
    const twins = twinNameProblems(kind.config, change);
    if (twins.length > 0) throw new ValidationError(twins);
    const before = this.open(id, stored);
    const after = changeConfig(kind.config, before, change);
    const content = this.checkAndSeal(kind, id, after);
    const [from, to] = [originsOf(kind.config, before), originsOf(kind.config, after)];
    if (kind.signsOnly || isDeepStrictEqual(from, to)) return content;
    const missing = secretsNotGivenAgain(kind.config, before, change);
    if (missing.length > 0) {
      const text =
        'must be given again, because the scheme, host or port of its destination changes';
      throw new ValidationError(
        missing.map((name) => problemAt(`config.${name}`, 'secret_required', text)),
      );
    }
    return { ...content, moved: { from, to } };
  }

  open(id: string, { config, secrets }: Sealed): Config {
    if (secrets === null) return config;
    return { ...config, ...(JSON.parse(this.box.open(secrets, this.contextOf(id))) as Config) };
  }

  protected contextOf(id: string): string {
    return `${this.owner}:${id}`;
  }
}

/** The SQL of "A lost key" in docs/operations.md stores this problem; attention finds it. */
export const SECRETS_LOST = 'Its secrets were lost with their key. Give it new ones and enable it.';

/** Column with the sealed secrets of connectors or channels. */
export function sealedSecretsOf(table: string, owner: string): SealedColumn {
  return {
    table,
    column: 'secrets',
    id: ['id'],
    where: 'secrets is not null',
    context: ({ id }) => `${owner}:${id}`,
  };
}

export const CONNECTOR_SECRETS = sealedSecretsOf('connectors', 'connector');
