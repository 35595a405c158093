import { createHmac } from 'node:crypto';

/** A variable that the scenario is given. */
export function given(name: 'SERVICE_URL' | 'ADMIN_KEY' | 'RUN'): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set.`);
  return value;
}

export function ok(step: string): void {
  console.log(`ok ${step}`);
}

/** What an answer with `data` has in it, or the reason why there is none. */
export function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`No answer of use: ${JSON.stringify(error)}`);
  return data;
}

/** As `signature: timestamped` has it. */
export function signed(body: string, secret: string) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'X-Webhook-Timestamp': timestamp, 'X-Webhook-Signature': `sha256=${digest}` };
}
