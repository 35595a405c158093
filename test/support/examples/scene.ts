/** A person of the story. Nobody sends no credentials; the monitor sends the token for metrics. */
export type Actor = 'nobody' | 'monitor' | 'alice' | 'bob' | 'carol' | 'admin';

/** One request of the story. `{mail}` in a path, query, header or body is the value that an earlier scene kept as `mail`. */
export interface Scene {
  readonly by: Actor;
  readonly operation: string;
  /** The case under which the contract shows the request and its answer. A scene without a case shows nothing. */
  readonly named?: string;
  readonly summary?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** The error code that the answer must have. */
  readonly code?: string;
  /** The media type under which the contract shows the answer, if the status has several. */
  readonly media?: string;
  /** Values of the answer that later scenes use, by JSON pointers. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Values that the answer must have; the request is repeated for up to 10 s until it has them. */
  readonly until?: Readonly<Record<string, unknown>>;
  /** Sent to the second replica, which waits for no action and queues every webhook event. */
  readonly hurried?: true;
  /** The example shows a part of the answer: items by name, members, or the first lines of a text. */
  readonly excerpt?: {
    readonly items?: readonly string[];
    readonly members?: readonly string[];
    readonly lines?: RegExp;
  };
  /** Happens before the request, for what no request can cause. */
  readonly before?: 'a job fails' | 'a delivery dies' | 'the database goes away';
}

type More = Omit<Scene, 'by' | 'operation' | 'status' | 'named' | 'summary'> & {
  /** The case under which the contract shows the scene, and its summary. */
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

/** Makes the scenes of a person: `by.alice('getMe', 200)`. */
export const by = {
  nobody: sceneOf('nobody'),
  monitor: sceneOf('monitor'),
  alice: sceneOf('alice'),
  bob: sceneOf('bob'),
  carol: sceneOf('carol'),
  admin: sceneOf('admin'),
};
