import { Injectable } from '@nestjs/common';

export type ComponentStatus = 'healthy' | 'degraded' | 'unhealthy' | 'disabled';

/** How one part of the service is; more fields may help whoever reads it. */
export interface ComponentHealth {
  readonly status: ComponentStatus;
  readonly message?: string;
  readonly [detail: string]: unknown;
}

export const COMPONENTS = [
  'database',
  'llm',
  'connectors',
  'kill_switch',
  'jobs',
  'notifications',
  'access',
  'audit',
] as const;
export type ComponentName = (typeof COMPONENTS)[number];

type Check = () => Promise<ComponentHealth>;

/** Each module says here how it is; the health endpoints only ask. */
@Injectable()
export class HealthComponents {
  private readonly checks = new Map<ComponentName, Check>();

  register(name: ComponentName, check: Check): void {
    this.checks.set(name, check);
  }

  /** A part that no module has registered is disabled. */
  check(name: ComponentName): Promise<ComponentHealth> {
    return (
      this.checks.get(name)?.() ??
      Promise.resolve({ status: 'disabled', message: 'Not part of this service.' })
    );
  }
}
