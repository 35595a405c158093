import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Swagger UI on the committed contract. Whatever it loads comes from this host: the content security policy of pages allows nothing else. */
export function docsPage(principal: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Incident Triage Service: API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <style>.session { display: flex; gap: 1rem; justify-content: flex-end; align-items: center; padding: .5rem 1rem; font-family: sans-serif }</style>
  </head>
  <body>
    <header class="session">
      <span>Signed in as <strong>${escapeHtml(principal)}</strong></span>
      <form method="post" action="/logout"><button type="submit">Log out</button></form>
    </header>
    <main id="swagger-ui"></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;
}

/** A request of "Try it out" carries the session cookie, because it goes to this host. One can enter a key instead. */
const START_SCRIPT = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
const loaded = new Map<string, Asset>([
  ['start.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START_SCRIPT) }],
]);

/** One of the few files that the page needs, read when it is first asked for. Other names lead to no file. */
export function docsAsset(name: string): Asset | undefined {
  const known = loaded.get(name);
  if (known) return known;
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!type) return undefined;
  const asset = { type, bytes: readFileSync(join(folder, name)) };
  loaded.set(name, asset);
  return asset;
}
