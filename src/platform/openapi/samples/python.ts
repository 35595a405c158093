import type { SampleRequest } from './sample-request.js';

const PROOFS = {
  key: [`"Authorization": f"Bearer {os.environ['API_KEY']}"`],
  session: [`"Cookie": f"its_session={os.environ['SESSION']}"`, '"Sec-Fetch-Site": "same-origin"'],
  signature: ['"X-Webhook-Timestamp": timestamp', '"X-Webhook-Signature": f"sha256={signature}"'],
  none: [],
} as const;

const signing = (body: unknown) => `
body = json.dumps(${literal(body, '')}).encode()
timestamp = str(int(time.time()))
signature = hmac.new(
    os.environ["WEBHOOK_SECRET"].encode(), f"{timestamp}.".encode() + body, hashlib.sha256
).hexdigest()
`;

/** For Python with the package requests, and SERVICE_URL and API_KEY in its environment. */
export function pythonSample(request: SampleRequest): string {
  const { method, path, authentication, repeatable, headers, body } = request;
  const isSigned = authentication === 'signature';
  const sent = [
    ...PROOFS[authentication],
    ...(repeatable ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
    ...Object.entries(headers).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`),
    ...(isSigned ? ['"Content-Type": "application/json"'] : []),
  ];
  const parts = [
    `f"{os.environ['SERVICE_URL']}${path}"`,
    ...(sent.length > 0 ? [`headers={\n        ${sent.join(',\n        ')},\n    }`] : []),
    ...(body === undefined ? [] : [isSigned ? 'data=body' : `json=${literal(body, '    ')}`]),
    'timeout=60',
  ];
  const imports = isSigned
    ? 'import hashlib\nimport hmac\nimport json\nimport os\nimport time\n'
    : `import os\n${repeatable ? 'import uuid\n' : ''}`;
  return (
    `${imports}\nimport requests\n${isSigned ? signing(body) : ''}\n` +
    `response = requests.${method.toLowerCase()}(\n    ${parts.join(',\n    ')},\n)\n` +
    'response.raise_for_status()\nprint(response.text)\n'
  );
}

/** A value of JSON as Python writes it. */
function literal(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${literal(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}
