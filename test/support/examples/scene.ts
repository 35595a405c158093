/** Person of the story. `nobody` sends no credentials, and `monitor` sends the token for metrics. */
export type Actor = 'nobody' | 'monitor' | 'alice' | 'bob' | 'carol' | 'admin';

/**
 * Request of the story. In a path, query, header or body, `{mail}` stands for the value that an earlier scene kept as
 * `mail`.
 */
export interface Scene {
  readonly by: Actor;
  readonly operation: string;
  /** Name under which the contract shows request and response. A scene without a name is not shown. */
  readonly named?: string;
  readonly summary?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent unchanged. Any other value is sent as JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** Expected error code. */
  readonly code?: string;
  /** Media type of the example. Necessary only if the status has several media types. */
  readonly media?: string;
  /** Values of the response for later scenes, by JSON pointers. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Expected values of the response. The request is repeated for up to 10 s until they match. */
  readonly until?: Readonly<Record<string, unknown>>;
  /** True to send the request to the second replica, which waits for no action and queues every webhook event. */
  readonly hurried?: true;
  /** Part of the response that the example shows: items by name, members, or the first lines of a text. */
  readonly excerpt?: {
    readonly items?: readonly string[];
    readonly members?: readonly string[];
    readonly lines?: RegExp;
  };
  /** Runs before the request, for changes that no request can cause. */
  readonly before?: 'a job fails' | 'a delivery dies' | 'the database goes away';
}

type More = Omit<Scene, 'by' | 'operation' | 'status' | 'named' | 'summary'> & {
  /** Name and summary of the example in the contract. */
  readonly shows?: readonly [named: string, summary?: string];
};

const sceneOf =
  (actor: Actor) =>
  (operation: string, status: number, { shows, ...more }: More = {}): Scene => {
    const [named, summary] = shows ?? [];
    return {
      by: actor,
      operation,
      status,
      ...(named && { named }),
      ...(summary && { summary }),
      ...more,
    };
  };

/** Creates the scenes of a person: `by.alice('getMe', 200)`. */
export const by = {
  nobody: sceneOf('nobody'),
  monitor: sceneOf('monitor'),
  alice: sceneOf('alice'),
  bob: sceneOf('bob'),
  carol: sceneOf('carol'),
  admin: sceneOf('admin'),
};
