import { type ArgumentsHost, type ExceptionFilter, Catch } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, ValidationError, toAppError } from '../../platform/errors/app-error.js';
import { ErrorFilter } from '../../platform/http/answer.js';
import { COLOURS, escapeHtml, PRODUCT, SIGN } from '../../platform/http/page-look.js';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords.js';

export function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
}

function textField(fields: unknown, name: string): string | undefined {
  if (typeof fields !== 'object' || fields === null) return undefined;
  const value: unknown = (fields as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

const STYLE = `${COLOURS}
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

/** The error comes first in the title and on the page, so that screen readers announce the error. */
function framedPage(title: string, error: string | undefined, before: string, after: string) {
  const alert = error && `    <p id="error" role="alert">${escapeHtml(error)}</p>\n`;
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${alert ? 'Error: ' : ''}${title} - ${PRODUCT}</title>
  <link rel="icon" type="image/svg+xml" href="/favicon.ico">
  <style>${STYLE}</style>
</head>
<body>
  <main>
    <h1>${SIGN}${PRODUCT}</h1>
${before}${alert ?? ''}${after}
  </main>
</body>
</html>
`;
}

const DEFAULT_NEXT = '/docs';
const LONGEST = 1_024;
/** Path on this host, without characters or segments that a browser and a proxy may read differently. */
const LOCAL_PATH = /^\/(?:[\w~@:-][\w.~@:-]*(?:\/[\w~@:-][\w.~@:-]*)*\/?)?(?:[?#][\x21-\x7e]*)?$/;

/** Reads the field `next`, or else the query, so that /login?next=… still works after a failed attempt. */
export function nextOf(request: FastifyRequest): string {
  return safeNext(textField(request.body, 'next') ?? textField(request.query, 'next'));
}

export function safeNext(next = ''): string {
  return next.length <= LONGEST && LOCAL_PATH.test(next) ? next : DEFAULT_NEXT;
}

const nextField = (next: string): string =>
  `<input type="hidden" name="next" value="${escapeHtml(next)}">`;

interface Page {
  readonly next: string;
  readonly error?: string;
  readonly principal?: string;
}

export function loginPage({
  next,
  error,
  principal,
  username = '',
}: Page & { readonly username?: string }): string {
  const described = error === undefined ? '' : ' aria-describedby="error"';
  const [first, second] = username === '' ? [' autofocus', ''] : ['', ' autofocus'];
  const session =
    principal === undefined
      ? ''
      : `    <p>You are logged in as <strong>${escapeHtml(principal)}</strong>. <a href="${escapeHtml(next)}">Continue</a>, <a href="/login/password">change your password</a>, or log in as another user.</p>
    <form method="post" action="/logout"><button type="submit">Log out</button></form>
`;
  const form = `    <form method="post" action="/login">
      ${nextField(next)}
      <label for="username">User name</label>
      <input id="username" name="username" type="text" value="${escapeHtml(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" required${first}${described}>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required${second}${described}>
      <button type="submit">Log in</button>
    </form>
${WHOSE_ACCOUNT}`;
  return framedPage('Log in', error, session, form);
}

const WHOSE_ACCOUNT = `    <p class="hint">Do you need an account or a new password? Ask an admin of this service.</p>
    <details>
      <summary>Is the service newly installed?</summary>
      <p>The first start created the user <code>admin</code>. Its password is in the file <code>bootstrap-credentials.json</code> in the data folder, or is the value of <code>BOOTSTRAP_ADMIN_PASSWORD</code>. On the machine of the service, <code>npm run create-admin</code> creates another admin.</p>
    </details>`;

export function passwordPage(
  principal: string,
  { next, error, madeUp }: Page & { readonly madeUp: boolean },
): string {
  const described = error === undefined ? '' : ' aria-describedby="error"';
  const rules = error === undefined ? 'rules' : 'error rules';
  const user = escapeHtml(principal);
  const title = 'Change your password';
  const before = `    <h2>${title}</h2>
    <p>You are logged in as <strong>${user}</strong>${madeUp ? ', with the password that was generated at the first start and stored in a file. Choose your own password now, or later: the next login will ask again' : ''}.</p>
`;
  const form = `    <form method="post" action="/login/password">
      ${nextField(next)}
      <input type="text" name="username" value="${user}" autocomplete="username" hidden disabled>
      <label for="current_password">Current password</label>
      <input id="current_password" name="current_password" type="password" autocomplete="current-password" required autofocus${described}>
      <label for="new_password">New password</label>
      <p id="rules" class="hint">At least ${SHORTEST_PASSWORD} characters; no common password and not your name.</p>
      <input id="new_password" name="new_password" type="password" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}" maxlength="${LONGEST_PASSWORD}" required aria-describedby="${rules}">
      <button type="submit">Change password</button>
    </form>
    <p><a href="${escapeHtml(next)}">Not now</a></p>`;
  return framedPage(title, error, before, form);
}

@Catch()
export class FormPageFilter implements ExceptionFilter {
  private readonly errors = new ErrorFilter();

  constructor(private readonly page: (request: FastifyRequest, error: AppError) => string) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = toAppError(thrown);
    if (!isForm(request) || error.status === 500) return this.errors.catch(thrown, host);
    void http
      .getResponse<FastifyReply>()
      .status(error.status)
      .headers({ ...error.extras.headers })
      .type('text/html; charset=utf-8')
      .send(this.page(request, error));
  }
}

export function loginErrorPage(request: FastifyRequest, { code, message }: AppError): string {
  const error = code === 'validation_error' ? 'Enter a user name and a password.' : message;
  const username = textField(request.body, 'username');
  return loginPage({ next: nextOf(request), error, username });
}

/** Shows the error. If the session has ended, shows the login page, which leads back to the password page. */
export function passwordErrorPage(request: FastifyRequest, error: AppError): string {
  const principal = request.caller?.name;
  if (!principal) return loginPage({ next: '/login/password', error: error.message });
  const messages = error instanceof ValidationError ? error.errors : [error];
  const words = messages.map((one) => one.message.replace(/^(\w+?)_password\b/, 'The $1 password'));
  return passwordPage(principal, { next: nextOf(request), madeUp: false, error: words.join(' ') });
}
