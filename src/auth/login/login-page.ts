import { DEFAULT_NEXT } from './next-path.js';

export interface LoginPage {
  readonly next: string;
  /** What went wrong, to be read out. */
  readonly error?: string;
  /** What was typed before. */
  readonly username?: string;
  /** Who is logged in already. */
  readonly principal?: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  main { width: min(22rem, 100vw - 2rem); }
  h1 { font-size: 1.4rem; }
  label { display: block; margin-top: 1rem; font-weight: 600; }
  input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit; }
  button { margin-top: 1.5rem; padding: .5rem 1.25rem; font: inherit; }
  :focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
  [role=alert] { padding: .5rem .75rem; border: 2px solid currentcolor; }
`;

/** Needs no script, and says everything to a screen reader that it shows. */
export function loginPage(page: LoginPage): string {
  const { error, principal } = page;
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${error === undefined ? '' : 'Error: '}Log in - Incident Triage Service</title>
  <style>${STYLE}</style>
</head>
<body>
  <main>
    <h1>Incident Triage Service</h1>
${principal === undefined ? '' : sessionPart(principal, page.next)}${error === undefined ? '' : errorPart(error)}${formPart(page)}
  </main>
</body>
</html>
`;
}

function sessionPart(principal: string, next: string): string {
  return `    <p>You are logged in as <strong>${escapeHtml(principal)}</strong>. <a href="${escapeHtml(next)}">Go on</a>, or log in as someone else.</p>
    <form method="post" action="/logout"><button type="submit">Log out</button></form>
`;
}

function errorPart(error: string): string {
  return `    <p id="error" role="alert">${escapeHtml(error)}</p>
`;
}

function formPart({ next, error, username = '' }: LoginPage): string {
  const described = error === undefined ? '' : ' aria-describedby="error"';
  const nextField =
    next === DEFAULT_NEXT
      ? ''
      : `\n      <input type="hidden" name="next" value="${escapeHtml(next)}">`;
  // The focus goes where there is something to type.
  const [first, second] = username === '' ? [' autofocus', ''] : ['', ' autofocus'];
  return `    <form method="post" action="/login">${nextField}
      <label for="username">User name</label>
      <input id="username" name="username" type="text" value="${escapeHtml(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" required${first}${described}>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required${second}${described}>
      <button type="submit">Log in</button>
    </form>`;
}
