import { UnreachableError } from '../../../platform/net/net.errors.js';
import { isHeaderText } from './http-config.js';
import { fill, parseTemplate, type Reference, type Scope, valueOf } from './template.js';

/** What was asked for cannot be put where the template has it. Nothing is sent. */
export class RenderError extends UnreachableError {
  constructor(problem: string) {
    super(problem, { temporary: false });
  }
}

/** As much as the path, the headers and the body of one request may have together. */
export const MOST_RENDERED_BYTES = 1_048_576;

/** Dots that lead elsewhere: nobody encodes them, and some servers decode the slashes beside them before they look. */
const CLIMBING = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;

/**
 * The parts of one request. A short template may name a long value many times, so that what comes of it is counted piece
 * by piece, before the pieces are put together.
 */
export class TemplateRenderer {
  private bytes = 0;

  constructor(private readonly scope: Scope) {}

  /** A value is one segment, or a part of one: it can neither begin another nor climb. */
  path(text: string): string {
    const query = text.indexOf('?');
    const path = query < 0 ? text : text.slice(0, query);
    const rendered = path
      .split('/')
      .map((segment) => this.segment(segment))
      .join('/');
    return query < 0 ? rendered : rendered + this.form(text.slice(query));
  }

  header(text: string): string {
    return this.filled(text, (value, reference) => {
      if (!isHeaderText(value)) {
        throw unfit(reference, 'has characters that a header cannot carry.');
      }
      return value;
    });
  }

  form(text: string): string {
    return this.filled(text, encoded);
  }

  /**
   * JSON is built as values and only then written, so that nothing in a value can end its string. A string that is one
   * reference and nothing else becomes the value itself, and is left out with its key where there is none.
   */
  json(value: unknown): string {
    return JSON.stringify(this.built(value));
  }

  private segment(segment: string): string {
    const text = this.filled(segment, (value, reference) => {
      if (value === '') throw unfit(reference, 'is needed in the path, and missing.');
      return encoded(value, reference);
    });
    const reference = parseTemplate(segment).find((part) => typeof part !== 'string');
    if (reference && CLIMBING.test(text)) throw unfit(reference, 'is no path segment.');
    return text;
  }

  private built(value: unknown): unknown {
    if (typeof value === 'string') return this.builtText(value);
    if (Array.isArray(value)) {
      return value.map((item) => this.built(item)).filter((item) => item !== undefined);
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.built(item)]));
  }

  private builtText(text: string): unknown {
    const [first, ...more] = parseTemplate(text);
    if (typeof first !== 'object' || more.length > 0) {
      return this.filled(text, (value) => value, writtenSize);
    }
    const value = valueOf(this.scope, first);
    if (value !== undefined) this.count(writtenSize(value));
    return value;
  }

  private filled(
    text: string,
    escape: (value: string, reference: Reference) => string,
    sizeOf: (part: string) => number = (part) => Buffer.byteLength(part),
  ): string {
    return fill(parseTemplate(text), this.scope, escape, (part) => this.count(sizeOf(part)));
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes <= MOST_RENDERED_BYTES) return;
    throw new RenderError(
      `With the values in its templates the request has more than ${MOST_RENDERED_BYTES} bytes.`,
    );
  }
}

function unfit({ root, name }: Reference, problem: string): RenderError {
  return new RenderError(`${root}.${name} ${problem}`);
}

/** For a path segment, a query and a form alike. */
function encoded(value: string, reference: Reference): string {
  if (/\p{Surrogate}/u.test(value)) throw unfit(reference, 'is no proper text.');
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** As JSON, where some characters take more room than they have by themselves. */
function writtenSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
