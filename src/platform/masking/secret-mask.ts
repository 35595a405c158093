const MASK = '[secret]';
/** Shorter secrets are often parts of ordinary words and numbers, so they are masked only as whole words. */
const SHORTEST_ANYWHERE = 6;
const WORD = /[\p{L}\p{N}]/u;

interface Form {
  readonly text: string;
  readonly standsAlone: boolean;
}

/** Masks secrets in any case: raw, percent-encoded, JSON-escaped, in hex, and in base64, even inside longer base64. */
export class SecretMask {
  /** Built on first use: most connectors never show a response. */
  private forms: readonly Form[] | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Returns the first `length` characters, masked. A secret that extends beyond them is masked too. */
  maskStart(text: string, length: number): string {
    this.forms ??= [
      ...new Set(this.secrets.flatMap((secret) => [secret, ...basicParts(secret)])),
    ].flatMap(formsOf);
    const longest = Math.max(0, ...this.forms.map((form) => form.text.length));
    const seen = lowerCased(text.slice(0, length + longest));
    const found: (readonly [number, number])[] = [];
    for (const form of this.forms) {
      let at = seen.indexOf(form.text);
      for (; at >= 0 && at < length; at = seen.indexOf(form.text, at + 1)) {
        const end = at + form.text.length;
        const isPart = WORD.test(seen[at - 1] ?? '') || WORD.test(seen[end] ?? '');
        if (!form.standsAlone || !isPart) found.push([at, end]);
      }
    }
    let masked = '';
    let end = 0;
    for (const [from, to] of found.toSorted(([one], [other]) => one - other)) {
      if (from >= end) masked += text.slice(end, from) + MASK;
      end = Math.max(end, to);
    }
    return masked + text.slice(end, Math.max(end, length));
  }
}

/** Returns user and password if the secret is a Basic credential in base64. */
function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  return /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair)?.slice() ?? [];
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = bytes.toString('base64');
  const inBase64 = [base64, base64.replace(/=+$/, '')].concat(
    [0, 1, 2].map((offset) => insideBase64(bytes, offset)),
  );
  const texts = [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    bytes.toString('hex').replace(/../g, '%$&'),
    json,
    json.replaceAll('/', '\\/'),
    secret.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    bytes.toString('hex'),
    ...inBase64,
    ...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  const forms = new Set(texts.map(lowerCased).filter((text) => text !== ''));
  return [...forms].map((text) => ({ text, standsAlone: secret.length < SHORTEST_ANYWHERE }));
}

/** Returns the characters that depend only on the secret in a longer base64 text, for this offset in a 3-byte group. */
function insideBase64(bytes: Buffer, offset: number): string {
  if (bytes.length < SHORTEST_ANYWHERE) return '';
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
}

/** Does not change the length of the text. */
function lowerCased(text: string): string {
  return text.replace(/\p{Lu}+/gu, (letters) => {
    const lower = letters.toLowerCase();
    return lower.length === letters.length ? lower : letters;
  });
}
