import type { IncomingMessage } from 'node:http';
import { ClientCredentials } from './client-credentials.js';
import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

const TENANT = '00000000-0000-0000-0000-0000000007e4';
const CLIENT = {
  client_id: '00000000-0000-0000-0000-00000000c11e',
  client_secret: 'defender-secret-1',
};
const MACHINE = /^machineId eq '([0-9a-f]{40})'$/;

/** machineAction, with the properties that are documented for these actions. */
export interface StoredAction {
  readonly id: string;
  readonly type: string;
  readonly scope: string | null;
  readonly requestor: string;
  readonly requestorComment: string;
  status: string;
  readonly machineId: string;
  readonly computerDnsName: string;
  readonly creationDateTimeUtc: string;
}

const commented = (properties: object) =>
  objectOf({ Comment: { type: 'string', minLength: 1 }, ...properties });

/**
 * Microsoft Defender for Endpoint, written from its reference (https://learn.microsoft.com/en-us/defender-endpoint/api/):
 * get-machine-by-id, get-machines, isolate-machine (201), unisolate-machine (201), run-av-scan (201; 400 when one is already in
 * progress), machineaction, get-machineaction-object, get-machineactions-collection, common-errors;
 * and the login service from https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export class DefenderServer extends VendorServer {
  readonly tokens = new ClientCredentials({
    ...CLIENT,
    scope: 'https://api.securitycenter.microsoft.com/.default',
    grant_type: 'client_credentials',
  });
  readonly machines = new Map<string, string>();
  readonly actions: StoredAction[] = [];

  protected readonly routes: readonly Route[] = [
    this.tokens.route(`/${TENANT}/oauth2/v2.0/token`),
    {
      on: 'GET /api/machines',
      query: { $top: '1' },
      answer: () => ({ status: 200, body: { value: [] } }),
    },
    {
      on: 'GET /api/machines/{id}',
      answer: ({ path }) => this.machine(path.id!),
    },
    {
      on: 'POST /api/machines/{id}/isolate',
      body: commented({ IsolationType: { enum: ['Full', 'Selective', 'UnManagedDevice'] } }),
      answer: ({ path, body }) => this.begin('Isolate', path.id!, body),
    },
    {
      on: 'POST /api/machines/{id}/unisolate',
      body: commented({}),
      answer: ({ path, body }) => this.begin('Unisolate', path.id!, body),
    },
    {
      on: 'POST /api/machines/{id}/runAntiVirusScan',
      body: commented({ ScanType: { enum: ['Quick', 'Full'] } }),
      answer: ({ path, body }) => this.begin('RunAntiVirusScan', path.id!, body),
    },
    {
      on: 'GET /api/machineactions',
      query: { $filter: MACHINE, $top: /^[1-9]\d{0,3}$/ },
      answer: ({ query }) => this.actionsOn(MACHINE.exec(query.$filter!)![1]!),
    },
    {
      on: 'GET /api/machineactions/{id}',
      answer: ({ path }) => this.action(path.id!),
    },
  ];

  get config() {
    return { base_url: this.url, login_url: this.url, tenant_id: TENANT, ...CLIENT };
  }

  override forget(): void {
    super.forget();
    this.machines.clear();
    this.actions.length = 0;
  }

  addMachine(computerDnsName: string): string {
    const id = (this.machines.size + 1).toString(16).padStart(40, '0');
    this.machines.set(id, computerDnsName);
    return id;
  }

  /** Ends all open actions with the status, which shows whether the hosts have received them. */
  settle(status: string): void {
    for (const action of this.actions) if (isOpen(action)) action.status = status;
  }

  protected override isLetIn(headers: IncomingMessage['headers']): boolean {
    return this.tokens.isGood(headers);
  }

  protected errorOf(status: number, message: string): unknown {
    return { error: { code: `Code${status}`, message, target: 'c0ffee' } };
  }

  private machine(named: string): Reply {
    const name = named.toLowerCase();
    const found = [...this.machines].find(
      ([id, dnsName]) => id === name || dnsName.split('.')[0] === name || dnsName === name,
    );
    if (!found) return this.error(404, 'Machine was not found.');
    return {
      status: 200,
      body: { id: found[0], computerDnsName: found[1], healthStatus: 'Active' },
    };
  }

  private begin(type: string, machineId: string, body: unknown): Reply {
    const name = this.machines.get(machineId);
    if (name === undefined) return this.error(404, 'Machine was not found.');
    if (this.actions.some((one) => one.machineId === machineId && isOpen(one))) {
      return this.error(400, 'Action is already in progress.');
    }
    const { Comment, IsolationType, ScanType } = body as Record<string, string>;
    const number = this.actions.length + 1;
    const action: StoredAction = {
      id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      type,
      scope: IsolationType ?? ScanType ?? null,
      requestor: CLIENT.client_id,
      requestorComment: Comment!,
      status: 'Pending',
      machineId,
      computerDnsName: name,
      creationDateTimeUtc: new Date(Date.UTC(2026, 10, 22, 9, 0, number)).toISOString(),
    };
    this.actions.unshift(action);
    return { status: 201, body: action };
  }

  private actionsOn(machineId: string): Reply {
    const value = this.actions.filter((one) => one.machineId === machineId);
    return { status: 200, body: { value } };
  }

  private action(id: string): Reply {
    const action = this.actions.find((one) => one.id === id);
    return action ? { status: 200, body: action } : this.error(404, 'No such action.');
  }
}

function isOpen({ status }: StoredAction): boolean {
  return status === 'Pending' || status === 'InProgress';
}
