/** A mail as a mail program shows it. */
export interface ShownMail {
  /** Each header by its name in lower case, unfolded and decoded (RFC 2047). */
  readonly headers: Readonly<Record<string, string>>;
  /** The bodies, decoded, by their media type. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Reads what the service sends: at most one level of parts, in quoted-printable, base64 or as it is. */
export function readMail(content: string): ShownMail {
  const { headers, body } = split(content);
  const [, boundary] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? [];
  const parts = boundary === undefined ? [content] : body.split(`--${boundary}`).slice(1, -1);
  return { headers, parts: Object.fromEntries(parts.map(readPart)) };
}

function readPart(part: string): [mediaType: string, text: string] {
  const { headers, body } = split(part.replace(/^\r\n/, ''));
  const mediaType = headers['content-type']!.split(';')[0]!;
  return [mediaType, decoded(body, headers['content-transfer-encoding'] ?? '7bit')];
}

function split(text: string): { headers: Record<string, string>; body: string } {
  const end = text.indexOf('\r\n\r\n');
  const lines = text.slice(0, end).split(/\r\n(?![ \t])/);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), shownHeader(line.slice(colon + 1).trim())];
  });
  return { headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}

function shownHeader(value: string): string {
  return value
    .replace(/\?=\r\n[ \t]=\?/g, '?==?')
    .replace(/\r\n(?=[ \t])/g, '')
    .replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toUpperCase() === 'B'
        ? decoded(word, 'base64')
        : decoded(word.replaceAll('_', ' '), 'quoted-printable'),
    );
}

function decoded(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return text;
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
