import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { UsersRepository } from '../users/users.repository.js';

/**
 * Reminds people to change the password that the first start generated, because it stands in a file. `/health` names it,
 * but stays healthy, since everything works with that password.
 */
@Injectable()
export class MadeUpPassword implements OnModuleInit {
  constructor(
    private readonly users: UsersRepository,
    private readonly components: HealthComponents,
  ) {}

  onModuleInit(): void {
    this.components.register('access', () => this.health());
  }

  async isStillUsedBy(username: string): Promise<boolean> {
    return (await this.users.namesWithMadeUpPassword()).includes(username);
  }

  private async health(): Promise<ComponentHealth> {
    const holders = await this.users.namesWithMadeUpPassword();
    const inUse = { status: 'healthy', made_up_password: holders.length > 0 } as const;
    if (holders.length === 0) return inUse;
    const message = `The password that the first start made up for ${holders.join(', ')} is still in use: change it at /login/password.`;
    return { ...inUse, message };
  }
}
