import { pretty, type SampleRequest } from './sample-request.js';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const SIGNING = `TIMESTAMP=$(date +%s)
SIGNATURE=$(printf '%s.%s' "$TIMESTAMP" "$BODY" |
  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)
`;

const PROOFS = {
  key: ['-H "Authorization: Bearer $API_KEY"'],
  session: ['-H "Cookie: its_session=$SESSION"', "-H 'Sec-Fetch-Site: same-origin'"],
  signature: [
    '-H "X-Webhook-Timestamp: $TIMESTAMP"',
    '-H "X-Webhook-Signature: sha256=$SIGNATURE"',
  ],
  none: [],
} as const;

/** For a shell with SERVICE_URL and API_KEY in its environment. */
export function curlSample(request: SampleRequest): string {
  const { method, path, authentication, repeatable, headers, body } = request;
  const isSigned = authentication === 'signature';
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$SERVICE_URL${path}"`,
    ...PROOFS[authentication],
    ...(repeatable ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`]),
    ...(body === undefined ? [] : [isSigned ? '-d "$BODY"' : `-d ${quoted(pretty(body))}`]),
  ];
  const before = isSigned ? `BODY=${quoted(JSON.stringify(body))}\n${SIGNING}` : '';
  return `${before}${parts.join(' \\\n  ')}\n`;
}
