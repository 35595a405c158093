/** The part of autocannon that is used here; it brings no types of its own. */
declare module 'autocannon' {
  interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  }
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Ends after so many requests instead of after a time. */
    readonly amount?: number;
    readonly duration: number;
    readonly requests: readonly Request[];
    /** Each answer for which it is false counts as a mismatch. */
    readonly verifyBody?: (body: string) => boolean;
  }
  interface Result {
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly mismatches: number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
    readonly duration: number;
    readonly latency: { readonly p50: number; readonly p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
