const MASK = '[secret]';
/** Shorter secrets are often parts of ordinary words and numbers, so they are masked only as whole words. */
const SHORTEST_ANYWHERE = 6;

/** Ignores case. Finds plain, percent-encoded, JSON-escaped, hex and base64 secrets, even inside longer base64. */
export class SecretMask {
  /** Built at its first use, because most connectors never show a response. */
  private form: { readonly pattern: RegExp; readonly longest: number } | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Also masks a secret that begins within the first `length` characters and ends after them. */
  maskStart(text: string, length: number): string {
    const { pattern, longest } = (this.form ??= anyFormOf(this.secrets));
    let masked = '';
    let end = 0;
    for (const { index, 1: found } of text.slice(0, length + longest).matchAll(pattern)) {
      if (index >= length) break;
      if (index >= end) masked += text.slice(end, index) + MASK;
      end = Math.max(end, index + found!.length);
    }
    return masked + text.slice(end, Math.max(end, length));
  }
}

function anyFormOf(secrets: readonly string[]): {
  readonly pattern: RegExp;
  readonly longest: number;
} {
  const all = secrets.flatMap((secret) => [secret, ...basicParts(secret)]).flatMap(formsOf);
  const forms = all.sort((one, other) => other.text.length - one.text.length);
  const sources = forms.map(({ text, standsAlone }) => {
    const source = RegExp.escape(text);
    return standsAlone ? `(?<![\\p{L}\\p{N}])${source}(?![\\p{L}\\p{N}])` : source;
  });
  const pattern = new RegExp(`(?=(${[...new Set(sources)].join('|') || '(?!)'}))`, 'giu');
  return { pattern, longest: forms[0]?.text.length ?? 0 };
}

function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  return /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair)?.slice() ?? [];
}

function formsOf(secret: string): { readonly text: string; readonly standsAlone: boolean }[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const json = JSON.stringify(secret).slice(1, -1);
  const whole = bytes.toString('base64');
  const inside = [0, 1, 2].map((offset) => insideBase64(bytes, offset));
  const base64 = [whole, whole.replace(/=+$/, ''), ...inside];
  const texts = [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    hex.replace(/../g, '%$&'),
    hex,
    json,
    json.replaceAll('/', '\\/'),
    secret.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ...base64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
  ];
  const standsAlone = secret.length < SHORTEST_ANYWHERE;
  return texts.filter((text) => text !== '').map((text) => ({ text, standsAlone }));
}

/** Base64 characters that depend only on the secret. `offset` is the place of its first byte in a 3-byte group. */
function insideBase64(bytes: Buffer, offset: number): string {
  if (bytes.length < SHORTEST_ANYWHERE) return '';
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
}
