import {
  APPROVAL_LEVELS,
  approvalLevelOf,
  levelReaches,
  ROLES,
  type Role,
} from '../access/roles.js';
import { COLOURS, escapeHtml, PRODUCT, SIGN } from '../http/page-look.js';
import { assetAddress } from './docs-assets.js';

/**
 * Swagger UI on the committed contract. Whatever it loads comes from this host: the content security policy of pages
 * allows nothing else. What the page does with the document is in `browser/`.
 */
export function docsPage({ name, role }: { readonly name: string; readonly role: Role }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API - ${PRODUCT}</title>
    <link rel="icon" type="image/svg+xml" href="/favicon.ico">
    <link rel="stylesheet" href="${assetAddress('swagger-ui.css')}">
    <link rel="stylesheet" href="${assetAddress('page.css')}">
    <style>${COLOURS}</style>
  </head>
  <body>
    <header class="its-bar">
      <h1>${SIGN}${PRODUCT}</h1>
      <span>You are logged in as <strong>${escapeHtml(name)}</strong>, role <strong>${role}</strong></span>
      <span>OpenAPI: <a href="/openapi.json">3.0</a> · <a href="/openapi-3.1.json">3.1</a></span>
      <a href="/login/password">Change password</a>
      <form method="post" action="/logout"><button type="submit">Log out</button></form>
    </header>
    <section id="kill-switch" aria-label="Kill switch" aria-live="polite" hidden></section>
    <section id="approvals" aria-label="Waiting for approval" data-levels="${levelsOf(role)}" hidden></section>
    <main id="swagger-ui" data-role="${role}" data-roles="${ROLES.join(' ')}"></main>
    <noscript><p>This page needs JavaScript. The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></noscript>
    <script src="${assetAddress('swagger-ui-bundle.js')}"></script>
    <script type="module" src="${assetAddress('start.mjs')}"></script>
  </body>
</html>
`;
}

/** At which the role may approve. */
function levelsOf(role: Role): string {
  const own = approvalLevelOf(role);
  return APPROVAL_LEVELS.filter((level) => level !== 'none' && levelReaches(own, level)).join();
}
