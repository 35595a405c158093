import { UnreachableError } from '../../../platform/net/net.errors.js';
import { escapedForUrl, isDotSegment } from '../../calls/url-parts.js';
import { isHeaderText } from './http-config.js';
import { fill, parseTemplate, type Reference, type Scope, valueOf } from './template.js';

/** A value does not fit where the template puts it. Nothing is sent. */
export class RenderError extends UnreachableError {
  constructor(problem: string) {
    super(problem, { temporary: false });
  }
}

const HEADER_SYNTAX = /[;,"\\]/;

/** For the path, the headers and the body of one request together. */
export const MOST_RENDERED_BYTES = 1_048_576;

/**
 * Fills the templates of one request: its path, headers and body. A short template may name a long value many times, so
 * the bytes are counted piece by piece, before the pieces are joined.
 */
export class TemplateRenderer {
  private bytes = 0;

  constructor(private readonly scope: Scope) {}

  /** A value becomes one segment of the path, or a part of one. It can neither begin another segment nor be `..`. */
  path(text: string): string {
    const query = text.indexOf('?');
    const path = query < 0 ? text : text.slice(0, query);
    const rendered = path
      .split('/')
      .map((segment) => this.segment(segment))
      .join('/');
    return query < 0 ? rendered : rendered + this.form(text.slice(query));
  }

  /** Beside other text a value may not have what divides a header into parts: no escape for it is understood by all. */
  header(text: string): string {
    const isWhole = parseTemplate(text).length === 1;
    return this.filled(text, (value, reference) => {
      if (!isHeaderText(value)) {
        throw unfit(reference, 'has characters that a header cannot carry.');
      }
      if (!isWhole && reference.root === 'parameters' && HEADER_SYNTAX.test(value)) {
        throw unfit(reference, 'has one of ; , " \\ which mean something within a header.');
      }
      return value;
    });
  }

  form(text: string): string {
    return this.filled(text, encoded);
  }

  /**
   * JSON is built from values and then serialised, so that no value can end the string that it stands in. A string that is
   * one reference and nothing else becomes the value itself, or is left out together with its key when there is no value.
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
    if (reference && isDotSegment(text)) throw unfit(reference, 'is no path segment.');
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
  const text = escapedForUrl(value);
  if (text === undefined) throw unfit(reference, 'is no proper text.');
  return text;
}

/** As JSON, where some characters take more room than they have by themselves. */
function writtenSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
