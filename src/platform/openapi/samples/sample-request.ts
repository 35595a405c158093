import type { OperationExample } from '../operation-examples.js';

/** How a sample says who it is. */
export type Authentication = 'key' | 'session' | 'signature' | 'none';

/** A request of an example, as samples in any language send it. */
export interface SampleRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly authentication: Authentication;
  /** It takes a key of its own, under which it may be repeated. */
  readonly repeatable: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export function sampleRequest(
  method: string,
  template: string,
  { authentication, repeatable }: Pick<SampleRequest, 'authentication' | 'repeatable'>,
  { path = {}, query = {}, headers = {}, body, session }: Partial<OperationExample>,
): SampleRequest {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined)
      throw new Error(`The example of ${method} ${template} has no ${name}.`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query)
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%3A', ':');
  return {
    method: method.toUpperCase(),
    path: search ? `${filled}?${search}` : filled,
    authentication: session ? 'session' : authentication,
    repeatable,
    headers,
    body,
  };
}

/** JSON as a reader would write it. */
export const pretty = (body: unknown): string => JSON.stringify(body, null, 2);

/** Every line but the first, further to the right. */
export const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
