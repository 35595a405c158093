import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { type FieldError, ValidationError } from '../platform/errors/app-error.js';
import { Targets } from '../platform/net/targets.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import {
  allProblems,
  originsOf,
  problemAt,
  secretsNotGivenAgain,
  type TargetType,
} from './target-check.js';
import { changeConfig, type Config, secretNames, splitConfig } from './target-config.js';
import type { TargetRow } from './target-rows.js';
import type { SealedColumn } from '../platform/secrets/sealed-values.js';

type StoredConfig = Pick<TargetRow, 'config' | 'secrets' | 'secret_names'>;
type Sealed = Pick<StoredConfig, 'config' | 'secrets'>;

interface CheckedConfig {
  readonly stored: StoredConfig;
  /** Destinations before and after a change of the destinations, for the audit trail. */
  readonly details: { readonly sent_to_before?: string[]; readonly sent_to?: string[] };
}

/** Encrypts secrets. Secrets of one target cannot be decrypted for another target. */
@Injectable()
export class SealedConfig {
  protected readonly owner: string = 'connector';

  constructor(
    protected readonly box: SecretBox,
    private readonly targets: Targets,
  ) {}

  create(kind: TargetType, id: string, config: Config): CheckedConfig {
    const stored = this.checkAndSeal(kind, id, config);
    return { stored, details: { sent_to: destinationsOf(kind, config) } };
  }

  /** Applies a partial change. A change of the destination of secrets requires all secrets again. */
  change(kind: TargetType, id: string, before: Sealed, change: Config): CheckedConfig {
    const opened = this.open(id, before);
    const after = changeConfig(kind.config, opened, change);
    const stored = this.checkAndSeal(kind, id, after);
    const [origins, moved] = [opened, after].map((config) => originsOf(kind.config, config));
    if (!kind.signsOnly && !isDeepStrictEqual(origins, moved)) {
      const missing = secretsNotGivenAgain(kind.config, opened, change);
      if (missing.length > 0) throw new ValidationError(missing.map(secretRequired));
    }
    const [sent_to_before, sent_to] = [destinationsOf(kind, opened), destinationsOf(kind, after)];
    const details = isDeepStrictEqual(sent_to_before, sent_to) ? {} : { sent_to_before, sent_to };
    return { stored, details };
  }

  open(id: string, { config, secrets }: Sealed): Config {
    if (secrets === null) return config;
    return { ...config, ...(JSON.parse(this.box.open(secrets, this.contextOf(id))) as Config) };
  }

  private checkAndSeal(kind: TargetType, id: string, config: Config): StoredConfig {
    const problems = allProblems(kind, config, this.targets);
    if (problems.length > 0) throw new ValidationError(problems);
    const { readable, secrets } = splitConfig(kind.config, config);
    const names = secretNames(kind.config, config);
    return {
      config: readable,
      secrets: names.length > 0 ? this.box.seal(JSON.stringify(secrets), this.contextOf(id)) : null,
      secret_names: names,
    };
  }

  private contextOf(id: string): string {
    return `${this.owner}:${id}`;
  }
}

const secretRequired = (name: string): FieldError => {
  const text = 'must be given again, because the scheme, host or port of its destination changes';
  return problemAt(`config.${name}`, 'secret_required', text);
};

const destinationsOf = (kind: TargetType, config: Config): string[] => [
  ...originsOf(kind.config, config),
  ...(kind.sentTo?.(config) ?? []),
];

/** Stored by the SQL of "A lost key" in docs/operations.md, and found by attention. */
export const SECRETS_LOST = 'Its secrets were lost with their key. Give it new ones and enable it.';

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
