import { Global, Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { KeyUse } from './key-use.js';
import { loadSecretKeys } from './load-secret-keys.js';
import { SecretBox } from './secret-box.js';
import { SecretKeys } from './secret-keys.js';

@Global()
@Module({
  providers: [
    { provide: SecretKeys, useFactory: loadSecretKeys, inject: [Settings] },
    SecretBox,
    KeyUse,
  ],
  exports: [SecretKeys, SecretBox],
})
export class SecretsModule {}
