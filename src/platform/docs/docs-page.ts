const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Swagger UI on the committed contract. All it loads comes from this host, as the page's CSP demands. */
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

/** Requests of "Try it out" carry the session cookie, because they go to this host; a key can be entered instead. */
export const START_SCRIPT = `window.ui = SwaggerUIBundle({
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
