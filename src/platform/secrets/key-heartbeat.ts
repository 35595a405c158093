import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { SecretKeys } from './secret-keys.js';
import { SecretKeysRepository } from './secret-keys.repository.js';

const BEAT_MS = 5_000;
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/** Tells the database every few seconds which key this process writes with, so that no key is retired while it is used. */
@Injectable()
export class KeyHeartbeat implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(KeyHeartbeat.name);
  private readonly loop = new BackgroundLoop(
    { task: 'Telling the key in use', log: this.logger, pauseMs: BEAT_MS },
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
        `This process still writes with the key ${id}, which was given up: start it with the newer one first.`,
      );
    }
  }
}

/** Waits until no process writes with these keys any more; throws when that takes too long. */
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
        `A process that runs now writes with the key ${used}: start every replica with the new key first, and run this again.`,
      );
    }
    say(`Waiting until nobody writes with the key ${used} any more.`);
  }
}
