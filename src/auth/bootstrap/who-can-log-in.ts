import { Injectable } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { Settings } from '../../platform/config/settings.js';
import { UsersRepository } from '../users/users.repository.js';
import { credentialsFileIn } from './bootstrap.service.js';

/** For whoever starts the service: which users there are, and where the first password is. */
@Injectable()
export class WhoCanLogIn {
  constructor(
    private readonly users: UsersRepository,
    private readonly settings: Settings,
  ) {}

  async inWords(): Promise<string> {
    const holders = await this.users.namesWithMadeUpPassword();
    const path = credentialsFileIn(this.settings.dataDir);
    if (holders.length > 0) {
      const where = existsSync(path) ? `in ${path}` : 'that the first start made up';
      return `${holders.join(', ')}, with the password ${where}; change it at /login/password`;
    }
    const users = await this.users.countEnabled();
    if (users === 0) return 'nobody yet: npm run create-admin -- <name> makes an admin';
    return users === 1 ? 'one user' : `${users} users`;
  }
}
