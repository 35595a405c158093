import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { BackgroundLoop } from '../concurrency/background-loop.js';
import { type Statement, Statements } from '../database/statements.js';
import { SecretKeys } from './secret-keys.js';

const EVERY_MS = 5_000;

const SIGN: Statement = {
  name: 'secret_keys_sign_of_use',
  text: `update secret_keys set last_used_at = now() where id = $1 returning retired_at is not null as retired`,
};

/** Tells the database which key this process writes with, so that no key is given up while somebody still uses it. */
@Injectable()
export class KeyHeartbeat implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(KeyHeartbeat.name);
  private readonly loop = new BackgroundLoop(
    { task: 'Telling the key in use', log: this.logger, pauseMs: EVERY_MS },
    () => this.sign(),
  );

  constructor(
    private readonly statements: Statements,
    private readonly keys: SecretKeys,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.loop.stop();
  }

  private async sign(): Promise<void> {
    const [id] = this.keys.ids;
    const [row] = await this.statements.rows<{ retired: boolean }>(SIGN, [id]);
    if (row?.retired) {
      this.logger.error(
        `This process still writes with the key ${id}, which was given up: start it with the newer one first.`,
      );
    }
  }
}
