import { Catch } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../platform/errors/app-error.js';
import { escapeHtml } from '../../platform/http/page-look.js';
import { describedByError, FormPageFilter, framedPage, textField } from './form-page.js';
import { nextField, nextOf } from './next-path.js';

export interface LoginPage {
  readonly next: string;
  /** What went wrong, to be read out. */
  readonly error?: string;
  /** What was typed before. */
  readonly username?: string;
  /** Who is logged in already. */
  readonly principal?: string;
}

export function loginPage(page: LoginPage): string {
  const { error, principal, next } = page;
  return framedPage({
    title: 'Log in',
    error,
    before: principal === undefined ? undefined : sessionPart(principal, next),
    after: formPart(page),
  });
}

function sessionPart(principal: string, next: string): string {
  return `    <p>You are logged in as <strong>${escapeHtml(principal)}</strong>. <a href="${escapeHtml(next)}">Go on</a>, <a href="/login/password">change your password</a>, or log in as someone else.</p>
    <form method="post" action="/logout"><button type="submit">Log out</button></form>
`;
}

function formPart({ next, error, username = '' }: LoginPage): string {
  const described = describedByError(error);
  // The focus goes where there is something to type.
  const [first, second] = username === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return `    <form method="post" action="/login">${nextField(next)}
      <label for="username">User name</label>
      <input id="username" name="username" type="text" value="${escapeHtml(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" required${first}${described}>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required${second}${described}>
      <button type="submit">Log in</button>
    </form>
${WHOSE_ACCOUNT}`;
}

/** For whoever stands before the page and has no account, or has just installed the service. */
const WHOSE_ACCOUNT = `    <p class="hint">No account, or the password forgotten? An admin of this service makes one, or sets a new password.</p>
    <details>
      <summary>You have just installed it?</summary>
      <p>The first start made the user <code>admin</code>. Its password is in the file <code>bootstrap-credentials.json</code> in the folder of the service's data, or is what <code>BOOTSTRAP_ADMIN_PASSWORD</code> was set to. On the machine itself, <code>npm run create-admin</code> makes another admin.</p>
    </details>`;

@Catch()
export class LoginPageFilter extends FormPageFilter {
  protected page(request: FastifyRequest, error: AppError): string {
    return loginPage({
      next: nextOf(request),
      error: wordsFor(error),
      username: textField(request.body, 'username'),
    });
  }
}

function wordsFor(error: AppError): string {
  return error.code === 'validation_error' ? 'Enter a user name and a password.' : error.message;
}
