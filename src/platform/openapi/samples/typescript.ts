import { indented, pretty, type SampleRequest } from './sample-request.js';

const PROOFS = {
  key: ['Authorization: `Bearer ${process.env.API_KEY}`'],
  session: ['Cookie: `its_session=${process.env.SESSION}`', "'Sec-Fetch-Site': 'same-origin'"],
  signature: ["'X-Webhook-Timestamp': timestamp", "'X-Webhook-Signature': `sha256=${signature}`"],
  none: [],
} as const;

const signing = (body: unknown) => `import { createHmac } from 'node:crypto';

const body = JSON.stringify(${pretty(body)});
const timestamp = String(Math.floor(Date.now() / 1000));
const signature = createHmac('sha256', process.env.WEBHOOK_SECRET!)
  .update(\`\${timestamp}.\${body}\`)
  .digest('hex');
`;

/** For Node with SERVICE_URL and API_KEY in its environment. */
export function typescriptSample(request: SampleRequest): string {
  const { method, path, authentication, repeatable, headers, body } = request;
  const isSigned = authentication === 'signature';
  const sent = [
    ...PROOFS[authentication],
    ...(repeatable ? ["'Idempotency-Key': crypto.randomUUID()"] : []),
    ...Object.entries(headers).map(([name, value]) => `'${name}': ${JSON.stringify(value)}`),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(sent.length > 0 ? [`headers: {\n    ${sent.join(',\n    ')},\n  }`] : []),
    ...(body === undefined ? [] : [isSigned ? 'body' : `body: ${serialised(body)}`]),
  ];
  const argument = options.length > 0 ? `, {\n  ${options.join(',\n  ')},\n}` : '';
  return (
    `${isSigned ? signing(body) : ''}const response = await fetch(\`\${process.env.SERVICE_URL}${path}\`${argument});\n` +
    'if (!response.ok) throw new Error(await response.text());\n' +
    'console.log(await response.text());\n'
  );
}

const serialised = (body: unknown) => `JSON.stringify(${indented(pretty(body), '  ')})`;
