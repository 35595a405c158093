/** Mail as a mail program shows it. */
export interface ShownMail {
  /** Headers by name in lower case, unfolded and decoded (RFC 2047). */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded body. */
  readonly text: string;
}

/** Reads a mail of one part, in quoted-printable, base64 or without an encoding. */
export function readMail(content: string): ShownMail {
  const { headers, body } = split(content);
  return { headers, text: decoded(body, headers['content-transfer-encoding'] ?? '7bit') };
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
