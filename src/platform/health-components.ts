import { Injectable } from '@nestjs/common';

export const COMPONENT_STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;
export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

export interface ComponentHealth {
  readonly status: ComponentStatus;
  readonly message?: string;
  readonly [detail: string]: unknown;
}

export const COMPONENTS = [
  'database',
  'redis',
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
type Details = () => Promise<Readonly<Record<string, unknown>>>;

@Injectable()
export class HealthComponents {
  private readonly checks = new Map<ComponentName, Check>();
  private readonly details = new Map<ComponentName, Details[]>();

  register(name: ComponentName, check: Check): void {
    this.checks.set(name, check);
  }

  /** Adds details of another module to a component. Details that cannot be read are omitted. */
  addDetails(name: ComponentName, details: Details): void {
    this.details.set(name, [...(this.details.get(name) ?? []), details]);
  }

  async check(name: ComponentName): Promise<ComponentHealth> {
    const check = this.checks.get(name);
    if (!check) return { status: 'disabled', message: 'Not part of this service.' };
    const more = (this.details.get(name) ?? []).map((read) => read().catch(() => undefined));
    const [health, ...details] = await Promise.all([check(), ...more]);
    return Object.assign({ ...health }, ...details) as ComponentHealth;
  }
}
