import { join } from 'node:path';
import { ServiceProcess } from '../service-process.js';

/** Reports of a replica. `at` is in milliseconds of the clock that all processes of the machine share. */
export type Report =
  | { readonly kind: 'claim'; readonly at: number }
  | { readonly kind: 'stopping'; readonly at: number }
  | { readonly kind: 'activated'; readonly at: number; readonly locked: boolean };

/** Maximum delays of a replica in ms, by failpoint. `claim`: before the replica commits a claim. */
export type Delays = Readonly<Partial<Record<number | 'claim', number>>>;

export interface ChaosOptions {
  readonly databaseUrl: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly delays?: Delays;
  readonly heard?: (report: Report) => void;
}

/** CLOCK_MONOTONIC in milliseconds. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** One replica of the service as a process, which a test can kill, stop or delay at a failpoint. */
export class ChaosReplica extends ServiceProcess {
  /** True after SIGSTOP until SIGCONT. */
  stopped = false;

  static async launch(options: ChaosOptions): Promise<ChaosReplica> {
    const { databaseUrl, settings, delays, heard } = options;
    const replica = new ChaosReplica({
      entry: join(__dirname, 'chaos-service.cjs'),
      settings: {
        DATABASE_URL: databaseUrl,
        ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
        ...settings,
      },
    });
    if (heard) replica.child.on('message', heard);
    if (delays) replica.tell({ delays });
    await replica.listening();
    return replica;
  }

  get gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Kills the replica with SIGKILL at the failpoint, and waits for its end. */
  async dieAt(point: number): Promise<void> {
    this.tell({ dieAt: point });
    await this.exited;
  }

  /** Stops the replica with SIGSTOP when it next reaches the failpoint, and waits for the stop. */
  stopAt(point: number): Promise<void> {
    return new Promise((resolve) => {
      const hear = ({ kind }: Report): void => {
        if (kind !== 'stopping') return;
        this.child.off('message', hear);
        this.stopped = true;
        resolve();
      };
      this.child.on('message', hear);
      this.tell({ stopAt: point });
    });
  }

  override signal(signal: NodeJS.Signals): void {
    this.stopped = signal === 'SIGSTOP';
    super.signal(signal);
  }

  private tell(order: object): void {
    if (this.child.connected) this.child.send(order, () => undefined);
  }
}
