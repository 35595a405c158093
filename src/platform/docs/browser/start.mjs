import { showApprovals } from './approvals.mjs';
import { documentForPage } from './boxes.mjs';
import { showLinked } from './linked.mjs';
import { showKillSwitch } from './page.mjs';
import { pagePlugin } from './plugin.mjs';
import { inOrder } from './search.mjs';

/* This class turns on the dark colours of Swagger UI. */
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColours();
dark.addEventListener('change', followColours);

const main = document.getElementById('swagger-ui');
const { role, roles } = main.dataset;
const order = roles.split(' ');
const mayCall = (needed) => order.indexOf(needed) <= order.indexOf(role);

let mayHaveChanged = false;

const answer = await fetch('/openapi.json');
const ui = window.SwaggerUIBundle({
  spec: documentForPage(await answer.json(), mayCall),
  domNode: main,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  filter: true,
  operationsSorter: inOrder,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [pagePlugin],
  requestInterceptor: (request) => {
    mayHaveChanged ||= request.method !== 'GET';
    return request;
  },
  responseInterceptor: (response) => {
    // After the end of the session, the page shows a link to the login.
    if (mayHaveChanged || response.status === 401) readAgain();
    mayHaveChanged = false;
    return response;
  },
});
const readApprovals = showApprovals(document.getElementById('approvals'), ui);
const readAgain = () => {
  void showKillSwitch(document.getElementById('kill-switch'));
  return readApprovals();
};
await readAgain();
await showLinked(location.search, ui);
