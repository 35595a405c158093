import type { OperationExample } from '../../../src/platform/openapi/operation-examples.js';

export type Actor = 'nobody' | 'alice' | 'bob' | 'carol' | 'admin';

/** Somebody sends the request of an example. */
export interface Scene {
  readonly operation: string;
  /** The case. */
  readonly named: string;
  readonly by: Actor;
  /** For what no example shows, and the story needs all the same: what its answer has at least. */
  readonly instead?: Partial<OperationExample>;
  /** Asked until it is as shown: what leads there goes on in the background. */
  readonly patient?: true;
  /** On a replica that waits for no action, and lets a worker make every incident. */
  readonly hurried?: true;
  /** The example shows a part of the answer. */
  readonly excerpt?: true;
}

type How = Pick<Scene, 'patient' | 'hurried' | 'excerpt'>;

export const by =
  (actor: Actor, how: How = {}) =>
  (operation: string, ...names: readonly string[]): Scene[] =>
    names.map((named) => ({ operation, named, by: actor, ...how }));

export const unshown = (
  actor: Actor,
  operation: string,
  instead: Partial<OperationExample>,
): Scene => ({ operation, named: 'unshown', by: actor, instead });
