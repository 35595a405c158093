import { Catch } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type AppError, ValidationError } from '../../platform/errors/app-error.js';
import { escapeHtml } from '../../platform/http/page-look.js';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../passwords/password-requirements.js';
import { describedByError, FormPageFilter, framedPage } from './form-page.js';
import { loginPage } from './login-page.js';
import { nextField, nextOf } from './next-path.js';

export interface PasswordPage {
  readonly next: string;
  readonly principal: string;
  /** Whether the present password is the one that the first start made up. */
  readonly madeUp: boolean;
  /** What went wrong, to be read out. */
  readonly error?: string;
}

/** The login leads here while the password that the first start made up is in use; others may ask for the page. */
export function passwordPage({ next, principal, madeUp, error }: PasswordPage): string {
  const described = describedByError(error);
  return framedPage({
    title: 'Change your password',
    error,
    before: `    <h2>Change your password</h2>
    <p>You are logged in as <strong>${escapeHtml(principal)}</strong>${madeUp ? ', with the password that the first start made up and left in a file. Choose one of your own, or do it later: you will be asked again at the next login' : ''}.</p>
`,
    after: `    <form method="post" action="/login/password">${nextField(next)}
      <input type="text" name="username" value="${escapeHtml(principal)}" autocomplete="username" hidden disabled>
      <label for="current_password">Current password</label>
      <input id="current_password" name="current_password" type="password" autocomplete="current-password" required autofocus${described}>
      <label for="new_password">New password</label>
      <p id="rules" class="hint">At least ${SHORTEST_PASSWORD} characters; no common password and not your name.</p>
      <input id="new_password" name="new_password" type="password" autocomplete="new-password" minlength="${SHORTEST_PASSWORD}" maxlength="${LONGEST_PASSWORD}" required${describedByError(error, 'rules')}>
      <button type="submit">Change password</button>
    </form>
    <p><a href="${escapeHtml(next)}">Not now</a></p>`,
  });
}

/** Shows the login page to somebody whose session has ended; it leads back here. */
@Catch()
export class PasswordPageFilter extends FormPageFilter {
  protected page(request: FastifyRequest, error: AppError): string {
    const principal = request.caller?.name;
    if (principal === undefined)
      return loginPage({ next: '/login/password', error: error.message });
    return passwordPage({
      next: nextOf(request),
      principal,
      madeUp: false,
      error: wordsFor(error),
    });
  }
}

function wordsFor(error: AppError): string {
  if (!(error instanceof ValidationError)) return error.message;
  return error.errors.map(({ message }) => message.replace(/^(\w+?)_password\b/, named)).join(' ');
}

/** Calls the field by its label in the form. */
function named(_: string, which: string): string {
  return `The ${which} password`;
}
