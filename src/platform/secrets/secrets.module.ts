import { Global, Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { KeyHeartbeat } from './key-heartbeat.js';
import { loadSecretKeys } from './load-secret-keys.js';
import { SecretBox } from './secret-box.js';
import { SecretKeys } from './secret-keys.js';
import { SecretKeysRepository } from './secret-keys.repository.js';

@Global()
@Module({
  providers: [
    { provide: SecretKeys, useFactory: loadSecretKeys, inject: [Settings] },
    SecretKeysRepository,
    SecretBox,
    KeyHeartbeat,
  ],
  exports: [SecretKeys, SecretBox],
})
export class SecretsModule {}
