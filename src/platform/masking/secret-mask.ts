const MASK = '[secret]';
/** Shorter secrets are often parts of ordinary words and numbers, so they are masked only as whole words. */
const SHORTEST_ANYWHERE = 6;
const WORD = /[\p{L}\p{N}]/u;
/** Maximum length of one encoded character: three percent-encoded bytes. */
const LONGEST_CHARACTER = 9;
const PERCENT =
  '%[0-7][\\da-f]|%[cd][\\da-f]%[89ab][\\da-f]|%e[\\da-f](?:%[89ab][\\da-f]){2}|%f[0-7](?:%[89ab][\\da-f]){3}';

const urlDecoded = (found: string) => Buffer.from(found.replaceAll('%', ''), 'hex').toString();

type Encoding = readonly [encoded: RegExp, decode: (found: string) => string];

/** Each sender encodes other characters, so the mask decodes the text instead of encoding the secrets. */
const ENCODINGS: readonly Encoding[] = [
  [new RegExp(`(${PERCENT})`, 'i'), urlDecoded],
  [new RegExp(`(\\+|${PERCENT})`, 'i'), (found) => urlDecoded(found.replace('+', '20'))],
  [/(\\(?:u[\da-fA-F]{4}|["\\/bfnrt]))/, (found) => JSON.parse(`"${found}"`) as string],
];

interface Form {
  readonly text: string;
  readonly standsAlone: boolean;
}

/** `places` has the position of each character before the decoding, and the length. */
interface View {
  readonly text: string;
  readonly places?: readonly number[];
}

/** Ignores case. Finds plain, percent-encoded, JSON-escaped, hex and base64 secrets, even inside longer base64. */
export class SecretMask {
  /** Built at its first use, because most connectors never show a response. */
  private forms: readonly Form[] | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Also masks a secret that begins within the first `length` characters and ends after them. */
  maskStart(text: string, length: number): string {
    const forms = (this.forms ??= allForms(this.secrets));
    const longest = Math.max(0, ...this.secrets.map((secret) => secret.length));
    const seen = text.slice(0, length + longest * LONGEST_CHARACTER);
    const encodings = ENCODINGS.filter(([encoded]) => encoded.test(seen));
    const views = [{ text: seen }, ...encodings.map((encoding) => decoded(seen, encoding))];
    const ranges = views.flatMap((view) => [...rangesOf(forms, view)]);
    let masked = '';
    let end = 0;
    for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
      if (from >= length) break;
      if (from >= end) masked += text.slice(end, from) + MASK;
      end = Math.max(end, to);
    }
    return masked + text.slice(end, Math.max(end, length));
  }
}

function* rangesOf(forms: readonly Form[], view: View): Generator<readonly [number, number]> {
  const text = lowerCased(view.text);
  const place = (at: number) => view.places?.[at] ?? at;
  for (const form of forms) {
    for (let at = text.indexOf(form.text); at >= 0;) {
      const end = at + form.text.length;
      const isPart = WORD.test(text[at - 1] ?? '') || WORD.test(text[end] ?? '');
      if (!form.standsAlone || !isPart) yield [place(at), place(end)];
      at = text.indexOf(form.text, end);
    }
  }
}

function decoded(text: string, [encoded, decode]: Encoding): View {
  const places: number[] = [];
  let plain = '';
  let from = 0;
  for (const [n, part] of text.split(encoded).entries()) {
    const isEncoded = n % 2 === 1;
    const shown = isEncoded ? decode(part) : part;
    for (let at = 0; at < shown.length; at += 1) places.push(isEncoded ? from : from + at);
    plain += shown;
    from += part.length;
  }
  places.push(text.length);
  return { text: plain, places };
}

/** Does not change the length of the text. */
function lowerCased(text: string): string {
  return text.replace(/\p{Lu}+/gu, (letters) => {
    const lower = letters.toLowerCase();
    return lower.length === letters.length ? lower : letters;
  });
}

/** A server may trim the value of a header before it shows the value. */
function allForms(secrets: readonly string[]): Form[] {
  const all = secrets.flatMap((secret) => [secret, secret.trim(), ...basicParts(secret)]);
  return [...new Set(all)].flatMap(formsOf);
}

function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  return /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair)?.slice() ?? [];
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString('base64');
  const inside = [0, 1, 2].map((offset) => insideBase64(bytes, offset));
  const base64 = [whole, whole.replace(/=+$/, ''), ...inside];
  const texts = [
    secret,
    bytes.toString('hex'),
    ...base64.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]),
  ];
  const standsAlone = secret.length < SHORTEST_ANYWHERE;
  const forms = new Set(texts.map(lowerCased).filter((text) => text !== ''));
  return [...forms].map((text) => ({ text, standsAlone }));
}

/** Base64 characters that depend only on the secret. `offset` is the place of its first byte in a 3-byte group. */
function insideBase64(bytes: Buffer, offset: number): string {
  if (bytes.length < SHORTEST_ANYWHERE) return '';
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return text.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
}
