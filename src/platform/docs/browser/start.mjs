import { showApprovals } from './approvals.mjs';
import { documentForPage } from './boxes.mjs';
import { showLinked } from './linked.mjs';
import { pagePlugin } from './plugin.mjs';

/* This class turns on the dark colours of Swagger UI. */
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColours();
dark.addEventListener('change', followColours);

const main = document.getElementById('swagger-ui');
const { role, roles } = main.dataset;
const order = roles.split(' ');
const mayCall = (needed) => order.indexOf(needed) <= order.indexOf(role);

const answer = await fetch('/openapi.json');
const ui = window.SwaggerUIBundle({
  spec: documentForPage(await answer.json(), mayCall),
  domNode: main,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [pagePlugin],
  responseInterceptor: (response) => {
    // The request may have decided an action, or the session may have ended.
    void readApprovals();
    return response;
  },
});
const readApprovals = showApprovals(document.getElementById('approvals'), ui);
await readApprovals();
await showLinked(location.search, ui);
