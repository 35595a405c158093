const MASK = '[secret]';
/** Characters beyond the cut that are searched, so that a secret that begins before the cut is found. */
const READ_AHEAD = 1_024;
/** Shorter secrets are often parts of ordinary words and numbers, so they are masked only where they stand alone. */
const SHORTEST_ANYWHERE = 6;

const WORD = /[\p{L}\p{N}]/u;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Mn}]/u;
const HTML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };

/** The spellings of one character in one encoding, in lower case, encoded spellings first. */
type Spellings = readonly string[];

/** A secret, raw or encoded, as the spellings of its characters. */
interface Form {
  readonly characters: readonly Spellings[];
  /** Number of characters from which a truncated secret is masked. */
  readonly longBeginning: number;
  readonly standsAlone: boolean;
  /** Characters after the secret that hold its last bits, and the padding. */
  readonly rest?: RegExp;
}

/**
 * Masks secrets in texts of a vendor: raw, URL-encoded, JSON-escaped or HTML-escaped, in any case; in base64, also
 * inside a longer text; in hex. Nested encodings are not read. A long beginning of a secret is masked too, because
 * vendors truncate what they echo. A short beginning is not: an attacker who places a guess at a cut would learn from
 * the mask whether it is right.
 */
export class SecretMask {
  /** By first character. Built on first use: most connectors never show a response. */
  private forms: Map<string, Form[]> | undefined;

  constructor(private readonly secrets: readonly string[]) {}

  mask(text: string): string {
    return this.maskStart(text, text.length);
  }

  /** Returns the first `length` characters, masked. A secret that goes beyond them is masked as well. */
  maskStart(text: string, length: number): string {
    this.forms ??= byFirstCharacter(this.secrets);
    const seen = lowerCased(text.slice(0, length + READ_AHEAD));
    const isCut = seen.length < text.length;
    const parts: string[] = [];
    let shownFrom = 0;
    let end = 0;
    for (let at = 0; at < Math.min(length, seen.length); at += 1) {
      for (const form of this.forms.get(seen[at]!) ?? []) {
        const found = endOf(form, seen, at, isCut);
        if (found <= end) continue;
        if (at >= end) parts.push(text.slice(shownFrom, at), MASK);
        end = shownFrom = found;
      }
    }
    return parts.join('') + text.slice(shownFrom, Math.max(shownFrom, length));
  }
}

/** End of the secret that begins at `at`; 0 if there is none. */
function endOf(form: Form, text: string, at: number, isCut: boolean): number {
  const { characters, longBeginning, standsAlone, rest } = form;
  if (standsAlone && WORD.test(text[at - 1] ?? '')) return 0;
  let [end, count] = [at, 0];
  while (count < characters.length) {
    const spellings = characters[count]!;
    const spelling = spellings.find((one) => text.startsWith(one, end));
    if (spelling !== undefined) {
      end += spelling.length;
      // Any number of spaces matches any number of spaces, because senders collapse them.
      if (!isSpace(spellings) || !spellings.some((one) => text.startsWith(one, end))) count += 1;
    } else if (end > at && INVISIBLE.test(text[end] ?? '')) end += 1;
    else break;
  }
  const isEnded = end < text.length ? !WORD.test(text[end]!) : !isCut;
  if (count < characters.length) return count >= longBeginning && isEnded ? end : 0;
  if (standsAlone && !isEnded) return 0;
  return end + (rest?.exec(text.slice(end, end + 8))?.[0].length ?? 0);
}

function byFirstCharacter(secrets: readonly string[]): Map<string, Form[]> {
  const forms = new Map<string, Form[]>();
  const all = new Set(secrets.flatMap((one) => [one, ...basicParts(one)]).filter((one) => one));
  for (const form of [...all].flatMap(formsOf)) {
    for (const first of new Set(form.characters[0]!.map((spelling) => spelling[0]!))) {
      forms.set(first, [...(forms.get(first) ?? []), form]);
    }
  }
  return forms;
}

/** User and password, if the secret is a Basic credential in base64. */
function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/_-]{2,}={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('utf8');
  const [, user, password] = /^([^:\p{C}\ufffd]*):([^\p{C}\ufffd]*)$/u.exec(pair) ?? [];
  return user === undefined || password === undefined ? [] : [pair, user, password];
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const standsAlone = secret.length < SHORTEST_ANYWHERE;
  const plain = [...secret.replace(/\s+/g, ' ')];
  const long = Math.max(8, Math.min(12, Math.ceil((2 * plain.length) / 3)));
  const form = (characters: readonly Spellings[], scale: number, rest?: RegExp): Form => ({
    characters,
    longBeginning: Math.ceil(long * scale),
    standsAlone,
    ...(rest && { rest }),
  });
  const hex = [...bytes.toString('hex')].map((digit, at) =>
    at % 2 === 0 && at > 0 ? [digit, `:${digit}`, `-${digit}`, ` ${digit}`] : [digit],
  );
  // In a longer base64 text a secret begins at one of three offsets.
  const offsets = standsAlone ? [0] : [0, 1, 2];
  const base64 = offsets.map((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The characters at the edges may hold bits of the neighbours.
    const last = standsAlone ? Math.ceil(bits / 6) : Math.floor(bits / 6);
    const characters = [...text.slice(Math.ceil((8 * offset) / 6), last)];
    const rest = bits % 6 === 0 ? undefined : /^[\w+/-]?(?:=|%3d){0,2}/;
    return form(characters.map(base64Spellings), 4 / 3, rest);
  });
  const written = [rawSpellings, percentSpellings, jsonSpellings, htmlSpellings].map((spellings) =>
    form(plain.map(spellings), 1),
  );
  return [...written, form(hex, 2), ...base64].filter(({ characters }) => characters.length);
}

function rawSpellings(character: string): Spellings {
  return inAnyCase(...(character === ' ' ? ['\n', '\r', '\t'] : []), character);
}

function percentSpellings(character: string): Spellings {
  const percent = Buffer.from(character).toString('hex').replace(/../g, '%$&');
  const space = character === ' ' ? ['+', '%0a', '%09', '\n', '\r', '\t'] : [];
  return inAnyCase(percent, ...space, character);
}

function jsonSpellings(character: string): Spellings {
  const unicode = Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  );
  const space = character === ' ' ? ['\\n', '\\r', '\\t', '\n', '\r', '\t'] : [];
  const slash = character === '/' ? ['\\/'] : [];
  const escaped = JSON.stringify(character).slice(1, -1);
  return inAnyCase(unicode.join(''), ...slash, ...space, escaped, character);
}

function htmlSpellings(character: string): Spellings {
  const name = HTML[character];
  return inAnyCase(...(name === undefined ? [] : [`&${name};`]), character);
}

function inAnyCase(...spellings: readonly string[]): Spellings {
  const cases = spellings.flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()]);
  return [...new Set(cases.map(lowerCased))];
}

function isSpace(spellings: Spellings): boolean {
  return spellings.at(-1) === ' ';
}

function base64Spellings(character: string): Spellings {
  if (character === '+') return ['+', '-', '%2b'];
  if (character === '/') return ['/', '_', '%2f'];
  return [character.toLowerCase()];
}

/** Only ASCII, so that the text keeps its length. */
function lowerCased(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
