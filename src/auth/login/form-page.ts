import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../../platform/errors/app-error.js';
import { toAppError } from '../../platform/errors/to-app-error.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { COLOURS, DARK_COLOURS, escapeHtml, PRODUCT, SIGN } from '../../platform/http/page-look.js';

/** Whether the form of a page sent the request, so that a person reads the answer. */
export function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
}

/** The text of one field of a body or of a query. */
export function textField(fields: unknown, name: string): string | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined;
  const value: unknown = (fields as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

const STYLE = `${COLOURS}${DARK_COLOURS}
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; background: var(--paper); color: var(--ink); }
  main { box-sizing: border-box; width: min(26rem, 100vw - 2rem); margin: 1rem 0; padding: 1.5rem 2rem 2rem; border: 1px solid var(--line); border-top: 4px solid var(--brand); border-radius: 6px; background: var(--card); }
  h1 { display: flex; gap: .6rem; align-items: center; margin: 0; font-size: 1.3rem; }
  h2 { font-size: 1.1rem; }
  label { display: block; margin-top: 1rem; font-weight: 600; }
  input { box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .5rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--card); color: inherit; font: inherit; }
  button { margin-top: 1.5rem; padding: .5rem 1.25rem; border: 1px solid var(--brand); border-radius: 4px; background: var(--brand); color: var(--on-brand); font: inherit; cursor: pointer; }
  a { color: var(--brand); }
  code { overflow-wrap: anywhere; }
  form + .hint { margin-top: 1.5rem; }
  .hint { margin: .25rem 0 0; color: var(--quiet); }
  details { margin-top: .75rem; color: var(--quiet); }
  summary { cursor: pointer; }
  :focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
  [role=alert] { padding: .5rem .75rem; border: 2px solid var(--bad); border-radius: 4px; color: var(--bad); }
`;

export interface PageFrame {
  readonly title: string;
  /** What went wrong: first in the title and in the page, to be read out. */
  readonly error: string | undefined;
  /** HTML, escaped already. */
  readonly before?: string;
  readonly after: string;
}

/** A page with a form. Needs no script, and says everything to a screen reader that it shows. */
export function framedPage({ title, error, before = '', after }: PageFrame): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${error === undefined ? '' : 'Error: '}${title} - ${PRODUCT}</title>
  <link rel="icon" type="image/svg+xml" href="/favicon.ico">
  <style>${STYLE}</style>
</head>
<body>
  <main>
    <h1>${SIGN}${PRODUCT}</h1>
${before}${error === undefined ? '' : `    <p id="error" role="alert">${escapeHtml(error)}</p>\n`}${after}
  </main>
</body>
</html>
`;
}

/** For the input fields that the error is about. */
export function describedByError(error: string | undefined, ...others: readonly string[]): string {
  const ids = [...(error === undefined ? [] : ['error']), ...others];
  return ids.length === 0 ? '' : ` aria-describedby="${ids.join(' ')}"`;
}

/** Shows the form again with what went wrong to whoever sent it. Programs get the error that they get everywhere. */
export abstract class FormPageFilter implements ExceptionFilter {
  private readonly errors = new ErrorFilter();

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = toAppError(thrown);
    const page = isForm(request) && error.status !== 500 ? this.page(request, error) : undefined;
    if (page === undefined) {
      this.errors.catch(thrown, host);
      return;
    }
    void http
      .getResponse<FastifyReply>()
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type('text/html; charset=utf-8')
      .send(page);
  }

  protected abstract page(request: FastifyRequest, error: AppError): string;
}
