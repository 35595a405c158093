import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import type { PlaybookStep } from '../../../src/playbooks/playbook.js';
import { ActionWorld } from '../actions/action-world.js';
import type { Answer, ApiClient } from '../api-client.js';
import { eventually } from '../jobs/eventually.js';

export const RAW_DATA = {
  message_id: '<1@mail.example.net>',
  sender: 'ceo@examp1e.example.net',
  recipient: 'bob@example.com',
  subject: 'Urgent wire transfer',
};

type Step = Partial<PlaybookStep> & Pick<PlaybookStep, 'action' | 'parameters'>;

const PARAMETERS: Partial<Record<ActionTypeName, Record<string, unknown>>> = {
  quarantine_email: { message_id: '{{ incident.raw_data.message_id }}' },
  block_sender: { sender: '{{ incident.raw_data.sender }}' },
  lookup_ip: { ip: '203.0.113.9' },
  block_ip: { ip: '203.0.113.9' },
  isolate_host: { host_id: 'laptop-7' },
  scan_host: { host_id: 'laptop-7' },
};

/** A step with valid parameters of its action. */
export function step(name: string, action: ActionTypeName, more: Partial<PlaybookStep> = {}) {
  return { name, action, parameters: PARAMETERS[action]!, on_error: 'stop', ...more } as const;
}

export interface ShownStep {
  readonly name: string;
  readonly status: string;
  readonly action_id?: string;
  readonly approval_level?: string;
  readonly automatic_approval_level?: string;
  readonly decision?: string;
  readonly error?: string;
  readonly parameters?: Record<string, unknown>;
  readonly result?: { readonly success: boolean; readonly message: string };
}

export interface ShownRun {
  readonly run_id: string;
  readonly playbook_id: string;
  readonly playbook_version: number;
  readonly status: string;
  readonly steps_completed: number;
  readonly steps_failed: number;
  readonly steps_total: number;
  readonly started_at: string;
  readonly requested_by: string;
  readonly automatic: boolean;
  readonly error?: string;
  readonly completed_at?: string;
  readonly steps: readonly ShownStep[];
}

interface ShownEntry {
  readonly event: string;
  readonly summary: string;
  readonly subject?: { readonly id: string };
}

let made = 0;

/** ActionWorld with playbooks. */
export class PlaybookWorld {
  private constructor(readonly actions: ActionWorld) {}

  static async start(
    settings: Readonly<Record<string, string>> = {},
    replicas = 1,
  ): Promise<PlaybookWorld> {
    return new PlaybookWorld(await ActionWorld.start(settings, replicas));
  }

  get clients() {
    return this.actions.clients;
  }

  async close(): Promise<void> {
    await this.actions.close();
  }

  async incident(fields: object = {}): Promise<string> {
    return await this.actions.incident({ raw_data: RAW_DATA, ...fields });
  }

  /** Creates a playbook with these steps and returns its name. */
  async playbook(steps: readonly Step[], more: object = {}): Promise<string> {
    const name = `playbook-${(made += 1)}`;
    const answer = await this.clients.manager.post('/api/playbooks', { name, steps, ...more });
    if (answer.status !== 201) throw new Error(answer.text);
    return name;
  }

  async run(
    playbook: string,
    body: object = {},
    { client = this.clients.analyst, headers }: { client?: ApiClient; headers?: object } = {},
  ): Promise<Answer> {
    return await client.post(
      `/api/playbooks/${playbook}/run`,
      body,
      headers as Record<string, string>,
    );
  }

  /** Starts a run and returns it. */
  async ran(playbook: string, body: object = {}): Promise<ShownRun> {
    return (await this.run(playbook, body)).body.data as ShownRun;
  }

  /** Creates an incident with a verdict, which starts automatic runs. */
  async triaged(fields: object, classification = 'malicious'): Promise<string> {
    const id = await this.incident(fields);
    await this.clients.analyst.put(`/api/incidents/${id}`, { verdict: { classification } });
    return id;
  }

  /** Reads the path as a viewer. */
  async read(path: string): Promise<Answer['body']> {
    const answer = await this.clients.viewer.get(path);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.data;
  }

  async timeline(incidentId: string): Promise<ShownEntry[]> {
    return await this.read(`/api/incidents/${incidentId}/timeline?per_page=100`);
  }

  async get(playbook: string, runId: string): Promise<ShownRun> {
    return await this.read(`/api/playbooks/${playbook}/runs/${runId}`);
  }

  async list(playbook: string, query = ''): Promise<Answer> {
    return await this.clients.viewer.get(`/api/playbooks/${playbook}/runs${query}`);
  }

  async cancel(playbook: string, runId: string, client = this.clients.manager): Promise<Answer> {
    return await client.post(`/api/playbooks/${playbook}/runs/${runId}/cancel`, {});
  }

  async approve(actionId: string, client = this.clients.manager): Promise<Answer> {
    return await client.post(`/api/actions/${actionId}/approve`, {});
  }

  async reject(actionId: string): Promise<Answer> {
    const path = `/api/actions/${actionId}/reject`;
    return await this.clients.manager.post(path, { reason: 'No need.' });
  }

  /** Waits until the run has the status, or until the condition holds for it. */
  async until(
    playbook: string,
    runId: string,
    is: string | ((run: ShownRun) => boolean),
  ): Promise<ShownRun> {
    const holds = typeof is === 'string' ? (run: ShownRun) => run.status === is : is;
    return await eventually(() => this.get(playbook, runId), holds);
  }

  /** Waits until the run has ended, and approves each of its actions. */
  async untilEnded(playbook: string, runId: string): Promise<ShownRun> {
    let last: string | undefined;
    for (;;) {
      const run = await this.until(playbook, runId, (now) => {
        const waiting = waitingStep(now);
        return now.completed_at !== undefined || (!!waiting && waiting.name !== last);
      });
      if (run.completed_at !== undefined) return run;
      const { name, action_id } = waitingStep(run)!;
      last = name;
      await this.approve(action_id!);
    }
  }

  /** Waits until the playbook has a run, and returns its newest run. */
  async startedRun(playbook: string): Promise<ShownRun> {
    return (await eventually(async () => (await this.runsOf(playbook))[0]))!;
  }

  async runsOf(playbook: string): Promise<ShownRun[]> {
    return (await this.list(playbook)).body.data as ShownRun[];
  }
}

export const statuses = ({ steps }: Pick<ShownRun, 'steps'>): string[] =>
  steps.map(({ status }) => status);

const waitingStep = ({ steps }: ShownRun): ShownStep | undefined =>
  steps.find(({ status }) => status === 'waiting_approval');
