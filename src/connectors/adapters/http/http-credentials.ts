import { SHORTEST_SECRET } from '../../config/config-schema.js';

const NO_CREDENTIALS = new Set(['accept', 'content-type', 'user-agent']);
const NO_CREDENTIAL = /^(basic|bearer|digest|negotiate|apikey)$/i;
/** What a header of such a name holds is secret, however short it is. In other headers short words are ordinary words. */
const CREDENTIALS = /auth|cookie|credential|key|pass|pin|secret|session|sign|token/i;
const SHORTEST_WORD = 6;

/** The texts in headers that may be secrets: all of a header, its words (`Bearer <token>`) and what is assigned in it (`id=<token>`). */
export function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => credentialsOf(name, value));
}

/** Whether a header is named after a credential, and what is written there is too short for one. What it names has bounds of its own. */
export function holdsShortCredential(name: string, value: string): boolean {
  if (!CREDENTIALS.test(name) || value.includes('{{')) return false;
  const words = value.trim().split(/\s+/);
  const secret = words.filter((word) => !NO_CREDENTIAL.test(word)).join(' ');
  return secret !== '' && secret.length < SHORTEST_SECRET;
}

function credentialsOf(name: string, value: string): string[] {
  if (NO_CREDENTIALS.has(name.toLowerCase())) return [];
  const plain = value.replace(/\{\{.*?\}\}/gs, ' ').trim();
  const words = plain.split(/\s+/);
  const assigned = words.map((word) => /=(.*?)[";,]*$/.exec(word)?.[1]?.replace(/^"/, '') ?? '');
  const shortest = CREDENTIALS.test(name) ? 1 : SHORTEST_WORD;
  return [plain, ...words, ...assigned]
    .filter((text) => text.length >= shortest)
    .filter((text) => /[\p{L}\p{N}]/u.test(text) && !NO_CREDENTIAL.test(text));
}
