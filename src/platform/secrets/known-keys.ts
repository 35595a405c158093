import { timingSafeEqual } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Tx, Transactions } from '../database/transactions.js';
import {
  givenSecretKeys,
  keyFileOf,
  type KeySettings,
  loadSecretKeys,
} from './load-secret-keys.js';
import type { SecretKeyEntity } from './secret-key.entity.js';
import { SecretKeys } from './secret-box.js';
import { SecretKeysRepository } from './secret-keys.repository.js';
import { RetiredKeyError, WrongKeyError } from './secrets.errors.js';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** A key that the database was used with. */
export type KnownKey = Pick<SecretKeyEntity, 'id' | 'verifier' | 'retired_at'>;

/**
 * Loads the keys of this process and compares them with the keys of the database. Every start and command calls this
 * before it writes, because data written with a wrong key could never be verified or decrypted.
 */
export async function requireKnownKeys(
  settings: KeySettings,
  dataSource: DataSource,
): Promise<SecretKeys> {
  return await new Transactions(dataSource).run((tx) => acceptKeys(tx, settings));
}

export async function acceptKeys(tx: Tx, settings: KeySettings): Promise<SecretKeys> {
  const repository = new SecretKeysRepository(tx.dataSource);
  await repository.lockTable(tx);
  const known = await repository.list(tx);
  const given = givenSecretKeys(settings);
  requireKeysOf(known, settings, given);
  const keys = given ?? loadSecretKeys(settings);
  const first = keys.ids[0]!;
  if (known.some(({ id, retired_at }) => retired_at && id === first)) {
    throw new RetiredKeyError(sourceOf(settings), first);
  }
  // Only the first key is recorded, because only that key is written with.
  await repository.recordInUse(tx, { id: first, verifier: keys.verifierOf(first)! });
  return keys;
}

/** Throws if the database needs a key that was not given. */
export function requireKeysOf(
  known: readonly KnownKey[],
  settings: KeySettings,
  given: SecretKeys | undefined,
): void {
  const missing = known.filter((key) => isMissing(key, given)).map(({ id }) => id);
  if (missing.length > 0) throw new WrongKeyError(sourceOf(settings), missing, given?.ids ?? []);
}

/** The verifier distinguishes two keys with the same short id. */
function isMissing({ id, verifier, retired_at }: KnownKey, given: SecretKeys | undefined): boolean {
  if (retired_at) return false;
  const own = given?.verifierOf(id);
  return own === undefined || !timingSafeEqual(own, verifier!);
}

function sourceOf(settings: KeySettings): string {
  return settings.secretsKey.length > 0 ? 'SECRETS_KEY' : keyFileOf(settings);
}

const BEAT_MS = 5_000;
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/** Records every few seconds which key this process encrypts with, so that no key is retired while in use. */
@Injectable()
export class KeyHeartbeat implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(KeyHeartbeat.name);
  private readonly loop = new BackgroundLoop(
    { task: 'Recording the key in use', log: this.logger, pauseMs: BEAT_MS },
    () => this.beat(),
  );

  constructor(
    private readonly repository: SecretKeysRepository,
    private readonly keys: SecretKeys,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  private async beat(): Promise<void> {
    const id = this.keys.ids[0]!;
    const { retired } = await this.repository.recordUse(id);
    if (retired) {
      this.logger.error(
        `This process still encrypts with the retired key ${id}. Restart it with the newer key in front.`,
      );
    }
  }
}

/** Waits until no process encrypts with these keys. Throws after `patienceMs`. */
export async function waitUntilUnused(
  repository: SecretKeysRepository,
  keyIds: readonly string[],
  say: (line: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  for (const begin = Date.now(); ; await sleep(LOOK_EVERY_MS)) {
    const used = await repository.findIdInUse(keyIds);
    if (used === undefined) return;
    if (begin + patienceMs < Date.now()) {
      throw new Error(
        `A running process still encrypts with the key ${used}. Restart every replica with the new key in front, then run this command again.`,
      );
    }
    say(`Waiting until no process encrypts with the key ${used}.`);
  }
}
