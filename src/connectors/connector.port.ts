import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Gate } from '../platform/net/gate.js';

/** How long a test of a connector may take: somebody waits for it. */
export const TEST_TIMEOUT_MS = 5_000;

/** What a connector is asked to do. */
export interface ActionCall {
  /** The same for every attempt. Vendors that know idempotency keys get it as one. */
  readonly actionId: string;
  readonly attempt: number;
  readonly type: ActionTypeName;
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * Whether the level at which the action was requested is enough for a target that the vendor knows by this name; undefined
   * where it has none. A vendor's own id, by which the action may name its target, tells the policy nothing.
   */
  readonly mayTarget: (name: string | undefined) => boolean;
  /** Who sent the mail that the action names, as its incident has it. A mail of another sender that has the same id is not meant. */
  readonly sender?: string;
  /** For a rollback: what the result of the action that it undoes has as data, when that is known. */
  readonly undoes?: Readonly<Record<string, unknown>>;
}

interface Simulated {
  /** Nothing happened outside. The result of the action shows it. */
  readonly simulated?: true;
}

export type Outcome = Simulated &
  (
    | { readonly kind: 'done'; readonly message: string; readonly data?: Record<string, unknown> }
    /** The vendor said no: nothing happened. */
    | { readonly kind: 'refused'; readonly message: string }
    /** The vendor is still doing it. The handle, which is stored as JSON, is for asking how far it is. */
    | {
        readonly kind: 'accepted';
        readonly message: string;
        readonly handle: Record<string, unknown>;
      }
  );

export interface TestResult {
  readonly success: boolean;
  readonly message: string;
  readonly latencyMs: number;
}

export interface ConnectorIdentity {
  readonly id: string;
  readonly name: string;
  /** The name of the connector type, such as `http`. */
  readonly type: string;
}

/**
 * One configured connector. The error that it throws tells what is known: UnreachableError says that nothing was sent,
 * OutcomeUnknownError that something was. What the gate throws is passed on: that request sent nothing.
 */
export abstract class Connector {
  constructor(readonly identity: ConnectorIdentity) {}

  /** Whether nothing that it answers is real. */
  get simulates(): boolean {
    return false;
  }

  abstract provides(type: ActionTypeName): boolean;

  /** Whether a call whose outcome is unknown may be repeated, because its effect cannot happen twice. */
  abstract idempotent(type: ActionTypeName): boolean;

  /** Retries only what is safe to retry, each attempt through the gate. */
  abstract execute(call: ActionCall, gate: Gate): Promise<Outcome>;

  /** How an operation goes that the vendor accepted. Not gated. */
  poll?(handle: Record<string, unknown>, call: ActionCall): Promise<Outcome>;

  /** Asks the vendor for the present state, to find out an outcome that is unknown. Not gated. */
  probe?(call: ActionCall): Promise<Outcome | 'unknown'>;

  /** Whether the vendor answers and accepts the credentials. Not gated, without effect, and never throws. */
  abstract test(): Promise<TestResult>;
}
