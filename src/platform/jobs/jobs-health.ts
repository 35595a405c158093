import type { ComponentHealth } from '../health-components.js';
import type { Jobs } from './jobs.js';

/** Dead jobs are for an operator to look at; they hinder nothing. */
export async function jobsHealth(jobs: Jobs): Promise<ComponentHealth> {
  if (!jobs.started) return { status: 'degraded', message: 'The job queue has not started yet.' };
  const states = await jobs.waiting();
  const sum = (of: 'waiting' | 'active' | 'dead'): number =>
    states.reduce((total, state) => total + state[of], 0);
  return { status: 'healthy', waiting: sum('waiting'), active: sum('active'), dead: sum('dead') };
}
