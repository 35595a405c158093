import { isExact } from '../../platform/http/json-defects.js';
import { endOfString } from '../../platform/http/json-suspicion.js';
import type { Json } from './json.js';
import {
  CLOSES_LIST,
  CLOSES_OBJECT,
  closes,
  COLON,
  COMMA,
  endOfNumber,
  OPENS_LIST,
  opens,
  QUOTE,
  SPACE,
  startsNumber,
} from './json-characters.js';

/** In a string: NUL, or a surrogate without its other half. */
const UNSTORABLE = /[\0\p{Cs}]/gu;
/** So few digits every double gives back as they came. */
const SAFE_NUMBER = /^-?[\d.]{1,15}(?:e[+-]?\d{1,2})?$/i;

/** The value of a text that is JSON: see readEventJson. What is deeper than `levels` becomes text. */
export function readCarefully(text: string, levels: number): Json {
  return new CarefulReading(text).value(levels);
}

type Members = Record<string, Json>;

/** Reads text that is JSON once more, token by token. It calls itself once for each level, of which there are few. */
class CarefulReading {
  private at = 0;

  constructor(private readonly text: string) {}

  value(levels: number): Json {
    const char = this.next();
    if (char === QUOTE) return storable(this.string());
    if (opens(char)) {
      if (levels === 0) return this.asText();
      return char === OPENS_LIST ? this.list(levels - 1) : this.object(levels - 1);
    }
    return startsNumber(char) ? this.number() : this.word();
  }

  private list(levels: number): Json {
    const items: Json[] = [];
    this.at += 1;
    for (let char = this.next(); char !== CLOSES_LIST; char = this.next()) {
      if (char === COMMA) this.at += 1;
      else items.push(this.value(levels));
    }
    this.at += 1;
    return items;
  }

  private object(levels: number): Json {
    const members: Members = {};
    this.at += 1;
    for (let char = this.next(); char !== CLOSES_OBJECT; char = this.next()) {
      if (char === COMMA) {
        this.at += 1;
        continue;
      }
      const key = storable(this.string());
      if (this.next() === COLON) this.at += 1;
      setMember(members, key, this.value(levels));
    }
    this.at += 1;
    return members;
  }

  private string(): string {
    const start = this.at;
    const end = endOfString(this.text, start);
    this.at = end + 1;
    const content = this.text.slice(start + 1, end);
    return content.includes('\\') ? (JSON.parse(`"${content}"`) as string) : content;
  }

  private number(): Json {
    const token = this.text.slice(this.at, endOfNumber(this.text, this.at));
    this.at += token.length;
    const value = Number(token);
    const isSafe = SAFE_NUMBER.test(token) && !Object.is(value, -0);
    return isSafe || isExact(token) ? value : JSON.rawJSON(token);
  }

  private word(): Json {
    const word = ['true', 'false', 'null'].find((one) => this.text.startsWith(one, this.at))!;
    this.at += word.length;
    return JSON.parse(word) as Json;
  }

  /** A list or an object as its JSON, whatever it holds. */
  private asText(): string {
    const start = this.at;
    let levels = 0;
    do {
      const char = this.text.charCodeAt(this.at);
      if (char === QUOTE) this.at = endOfString(this.text, this.at);
      else if (opens(char)) levels += 1;
      else if (closes(char)) levels -= 1;
      this.at += 1;
    } while (levels > 0);
    return this.text.slice(start, this.at);
  }

  /** The character at the next token. */
  private next(): number {
    while (this.text.charCodeAt(this.at) <= SPACE) this.at += 1;
    return this.text.charCodeAt(this.at);
  }
}

/** An assignment to `__proto__` would change the prototype. */
function setMember(members: Members, key: string, value: Json): void {
  if (key !== '__proto__') members[key] = value;
  else {
    Object.defineProperty(members, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

function storable(text: string): string {
  if (!text.includes('\0') && text.isWellFormed()) return text;
  return text.replace(
    UNSTORABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
