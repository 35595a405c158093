import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Gate } from '../platform/net/outbound-request.js';
import type { FieldError } from '../platform/errors/app-error.js';
import type { Config, ConfigSchema } from '../targets/target-config.js';
import type { ConfigDefinition, Destination } from '../targets/target-check.js';

/** Maximum duration of a test, because a person waits for it. */
export const TEST_TIMEOUT_MS = 5_000;

/** Call of an action. */
export interface ActionCall {
  /** The same for every attempt. Sent as the idempotency key if the vendor supports it. */
  readonly actionId: string;
  readonly attempt: number;
  readonly type: ActionTypeName;
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * Whether the requested approval level is sufficient for a target with this name at the vendor; `undefined` if it has
   * no name. The policy cannot check a vendor id.
   */
  readonly mayTarget: (name: string | undefined) => boolean;
  /**
   * Sender of the mail in the incident. Mails of other senders with the same id are left alone. Without it an action on a mail
   * needs mails of one sender only.
   */
  readonly sender?: string;
  /** For a rollback: result data of the action to undo, if known. */
  readonly undoes?: Readonly<Record<string, unknown>>;
}

interface Simulated {
  /** The action had no external effect. Its result shows this. */
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

/** Effect of an action, for the people who decide on it. */
export interface Preview {
  /** Number of objects that the action would change. Absent if the vendor cannot tell. */
  readonly count?: number;
  readonly message: string;
}

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
 * One configured connector. Its errors tell what happened: UnreachableError means that nothing was sent,
 * OutcomeUnknownError that something was. Errors of the gate are passed on: the request sent nothing.
 */
export abstract class Connector {
  constructor(readonly identity: ConnectorIdentity) {}

  /** Whether all results are simulated. */
  get simulates(): boolean {
    return false;
  }

  abstract provides(type: ActionTypeName): boolean;

  /** Whether a call with an unknown outcome may be repeated without a second effect. */
  abstract idempotent(type: ActionTypeName): boolean;

  /** Retries only safe requests. Each attempt passes the gate. */
  abstract execute(call: ActionCall, gate: Gate): Promise<Outcome>;

  /** Outcome of a simulated action; `undefined` if it must be executed. */
  simulate?(type: ActionTypeName): Exclude<Outcome, { kind: 'accepted' }> | undefined;

  /**
   * Looks up the effect of an action without changing anything. `undefined` for types without a preview. Throws like
   * `execute`.
   */
  preview?(call: ActionCall, gate: Gate): Promise<Preview | undefined>;

  /** Progress of an accepted operation. Not gated. */
  poll?(handle: Record<string, unknown>, call: ActionCall): Promise<Outcome>;

  /** Reads the current state at the vendor to resolve an unknown outcome. Not gated. */
  probe?(call: ActionCall): Promise<Outcome | 'unknown'>;

  /** Checks that the vendor answers and accepts the credentials. Not gated, without effect, never throws. */
  abstract test(): Promise<TestResult>;
}

/**
 * A type of connector, such as `http`. To add one, write a class in adapters/ and list it in ConnectorTypes. The schema
 * describes the configuration and marks its secrets.
 */
export abstract class ConnectorType implements ConfigDefinition {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly schema: ConfigSchema;
  abstract readonly destinations: readonly Destination[];
  /** All action types that this type can provide. */
  abstract readonly actions: readonly ActionTypeName[];
  /**
   * Minimum interval between health checks. Some vendors count them against the rate limit. Checks run at most once per
   * minute.
   */
  readonly checkedEveryMs: number = 0;
  /** Its connectors serve only if no connector of another type exists, enabled or not. */
  readonly servesOnlyAlone: boolean = false;

  problems(_config: Config, _path: string): FieldError[] {
    return [];
  }

  /** Action types that a connector with this configuration provides. */
  provides(_config: Config): readonly ActionTypeName[] {
    return this.actions;
  }

  /** @param config valid configuration, including secrets */
  abstract create(identity: ConnectorIdentity, config: Config): Connector;
}
