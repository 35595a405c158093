import { type ActionTypeName, isActionType } from '../action-catalogue/action-types.js';
import { OutcomeUnknownError, UnreachableError } from '../platform/net/net.errors.js';
import type { Gate } from '../platform/net/outbound-request.js';
import type { TargetType } from '../targets/target-check.js';
import {
  type Config,
  type ConfigOf,
  type ConfigSchema,
  secretTexts,
  splitConfig,
  withDefaults,
} from '../targets/target-config.js';
import type { TargetRow } from '../targets/target-rows.js';
import { RefusedError } from './calls/vendor-answers.js';
import type { Outbound } from './calls/vendor-calls.js';

type Values = Record<string, unknown>;
type Data = Readonly<Values>;

export interface ActionCall {
  readonly actionId: string;
  readonly attempt: number;
  readonly type: ActionTypeName;
  readonly parameters: Data;
  /** True if the action has a sufficient approval level for a target with this name. `undefined`: the vendor gave no name. */
  readonly mayTarget: (name: string | undefined) => boolean;
  /** Sender of the mail in the incident. Mails of other senders with the same Message-ID stay unchanged. */
  readonly sender?: string;
  readonly undoes?: Data;
}

export type Outcome = {
  readonly simulated?: true;
  readonly message: string;
} & (
  | { readonly kind: 'done'; readonly data?: Values }
  | { readonly kind: 'refused' }
  /** The vendor is still executing the action. The handle identifies the operation in polls and is stored as JSON. */
  | { readonly kind: 'accepted'; readonly handle: Values }
);

export const done = (message: string, data?: Values): Outcome => ({ kind: 'done', message, data });
export const accepted = (message: string, handle: Values): Outcome => ({
  kind: 'accepted',
  message,
  handle,
});
export const refused = (message: string) => ({ kind: 'refused', message }) as const;

/** Stores whether the action changed the target, if known. If it did not, a rollback changes nothing either. */
export function marked(outcome: Outcome, changed: unknown): Outcome {
  if (typeof changed !== 'boolean' || outcome.kind === 'refused') return outcome;
  return outcome.kind === 'done'
    ? { ...outcome, data: { ...outcome.data, changed } }
    : { ...outcome, handle: { ...outcome.handle, changed } };
}

interface Preview {
  readonly count?: number;
  readonly message: string;
}

/** Implementation of an action type. `vendor` has a gate in `send` and `preview`. RefusedError means no effect. */
export interface ActionDefinition<Vendor> {
  readonly idempotent?: true;
  send(vendor: Vendor, call: ActionCall): Promise<Outcome>;
  /** Reads the state at the vendor if the outcome of `send` is unknown. */
  ask?(vendor: Vendor, call: ActionCall): Promise<Outcome | 'unknown'>;
  poll?(vendor: Vendor, handle: Data, call: ActionCall): Promise<Outcome>;
  preview?(vendor: Vendor, call: ActionCall): Promise<Preview>;
}

export interface ConnectorType<
  Schema extends ConfigSchema = ConfigSchema,
  Vendor = unknown,
> extends TargetType<Schema> {
  /** Minimum interval between health checks, if the vendor counts them against the rate limit. */
  readonly checkedEveryMs?: number;
  /** Returns a factory of clients for this configuration. A client without a gate only reads. */
  connect(config: ConfigOf<Schema>, outbound: Outbound): (gate?: Gate) => Vendor;
  readonly actions: Readonly<Partial<Record<ActionTypeName, ActionDefinition<NoInfer<Vendor>>>>>;
  /** Returns the provided types. Needed only if the configuration decides them; default: the keys of `actions`. */
  provides?(config: ConfigOf<Schema>): readonly ActionTypeName[];
  /** Needed only if the configuration decides whether an action is idempotent; default: `idempotent` in `actions`. */
  idempotent?(config: ConfigOf<Schema>, type: ActionTypeName): boolean;
  /** `undefined`: the action must be executed. Simulators serve only if no connector of another type exists. */
  simulate?(
    config: ConfigOf<Schema>,
    type: ActionTypeName,
  ): Exclude<Outcome, { readonly kind: 'accepted' }> | undefined;
  test(vendor: NoInfer<Vendor>): Promise<string>;
}

export function defineConnector<const Schema extends ConfigSchema, Vendor>(
  type: ConnectorType<Schema, Vendor>,
): ConnectorType {
  return type;
}

export function actionsOf({ actions }: ConnectorType): ActionTypeName[] {
  return Object.keys(actions).filter(isActionType);
}

export type Connector = ReturnType<typeof connectorOf>;

/** An UnreachableError or an error of the gate means that no request was sent. @param given configuration, including secrets */
export function connectorOf(
  type: ConnectorType,
  { id, name }: Pick<TargetRow, 'id' | 'name' | 'type'>,
  given: Config,
  outbound: Omit<Outbound, 'secrets'>,
) {
  const config = withDefaults(type.config, given);
  const secrets = secretTexts(splitConfig(type.config, config).secrets);
  const client = type.connect(config, { ...outbound, secrets });
  const action = (call: ActionCall): ActionDefinition<unknown> => {
    const found = type.actions[call.type];
    if (found) return found;
    throw new RefusedError(`Connectors of the type ${type.name} do not provide ${call.type}.`);
  };
  return {
    identity: { id, name, type: type.name },
    simulates: type.simulate !== undefined,
    simulate: (name: ActionTypeName) => type.simulate?.(config, name),
    /** True if a call with an unknown outcome may be repeated without a second effect. */
    idempotent: (name: ActionTypeName): boolean =>
      type.idempotent?.(config, name) ?? type.actions[name]?.idempotent ?? false,
    execute: (call: ActionCall, gate: Gate): Promise<Outcome> =>
      unlessRefused(async () => await action(call).send(client(gate), call), refused),
    preview: (call: ActionCall, gate: Gate): Promise<Preview | undefined> =>
      unlessRefused(
        async () => await type.actions[call.type]?.preview?.(client(gate), call),
        (message) => ({ message }),
      ),
    // The kill switch stops neither `poll` nor `probe`. Without `probe`, the connector cannot ask about outcomes.
    poll: async (handle: Values, call: ActionCall): Promise<Outcome> =>
      marked(await action(call).poll!(client(), handle, call), handle['changed']),
    ...(Object.values(type.actions).some((one) => 'ask' in one) && {
      probe: (call: ActionCall): Promise<Outcome | 'unknown'> =>
        unlessRefused(
          async () => (await type.actions[call.type]?.ask?.(client(), call)) ?? 'unknown',
          () => 'unknown',
        ),
    }),
    test: (): Promise<{ success: boolean; message: string }> =>
      type.test(client()).then(
        (message) => ({ success: true, message }),
        (error: Error) => {
          const failures = [RefusedError, UnreachableError, OutcomeUnknownError];
          if (!failures.some((failure) => error instanceof failure)) throw error;
          return { success: false, message: error.message };
        },
      ),
  };
}

async function unlessRefused<T>(
  work: () => Promise<T>,
  refused: (message: string) => T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.message);
    throw error;
  }
}
