import { pretty, type SampleRequest } from './sample-request.js';

const PROOFS = {
  key: [['Authorization', '"Bearer "+os.Getenv("API_KEY")']],
  session: [
    ['Cookie', '"its_session="+os.Getenv("SESSION")'],
    ['Sec-Fetch-Site', '"same-origin"'],
  ],
  signature: [
    ['X-Webhook-Timestamp', 'timestamp'],
    ['X-Webhook-Signature', '"sha256="+hex.EncodeToString(digest.Sum(nil))'],
  ],
  none: [],
} as const;

const PACKAGES = ['fmt', 'io', 'net/http', 'os'];
const PACKAGES_OF_SIGNING = ['crypto/hmac', 'crypto/sha256', 'encoding/hex', 'strconv', 'time'];

const SIGNING = [
  'timestamp := strconv.FormatInt(time.Now().Unix(), 10)',
  'digest := hmac.New(sha256.New, []byte(os.Getenv("WEBHOOK_SECRET")))',
  'digest.Write([]byte(timestamp + "." + body))',
];

/** A raw string of Go holds anything but its own quote. */
const literal = (text: string): string =>
  text.includes('`') ? JSON.stringify(text) : `\`${text}\``;

/** A whole program, with SERVICE_URL and API_KEY in its environment. */
export function goSample(request: SampleRequest): string {
  const { method, path, authentication, repeatable, headers, body } = request;
  const isSigned = authentication === 'signature';
  const packages = [
    ...PACKAGES,
    ...(body === undefined ? [] : ['strings']),
    ...(repeatable ? ['crypto/rand'] : []),
    ...(isSigned ? PACKAGES_OF_SIGNING : []),
  ].toSorted();
  const sent = [
    ...PROOFS[authentication],
    ...(repeatable ? [['Idempotency-Key', 'rand.Text()'] as const] : []),
    ...Object.entries(headers).map(([name, value]) => [name, literal(value)] as const),
    ...(body === undefined ? [] : [['Content-Type', '"application/json"'] as const]),
  ];
  const reader = body === undefined ? 'nil' : 'strings.NewReader(body)';
  const lines = [
    ...(body === undefined ? [] : [`body := ${literal(pretty(body))}`]),
    ...(isSigned ? SIGNING : []),
    `request, err := http.NewRequest("${method}", os.Getenv("SERVICE_URL")+"${path}", ${reader})`,
    ...FAILS,
    ...sent.map(([name, value]) => `request.Header.Set("${name}", ${value})`),
    'response, err := http.DefaultClient.Do(request)',
    ...FAILS,
    'defer response.Body.Close()',
    'answer, err := io.ReadAll(response.Body)',
    ...FAILS,
    'fmt.Println(response.Status, string(answer))',
  ];
  const imports = packages.map((name) => `\t"${name}"\n`).join('');
  const statements = lines.map((line) => `\t${line}\n`).join('');
  return `package main\n\nimport (\n${imports})\n\nfunc main() {\n${statements}}\n`;
}

const FAILS = ['if err != nil {', '\tpanic(err)', '}'];
