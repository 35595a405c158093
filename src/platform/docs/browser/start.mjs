import { showApprovals } from './approvals.mjs';
import { documentForPage } from './boxes.mjs';
import { showKillSwitch } from './kill-switch.mjs';
import { linkedIn, showLinked } from './linked.mjs';
import { pagePlugin } from './plugin.mjs';
import { inOrder } from './search.mjs';

/* Swagger UI has colours for the dark, which a class turns on. */
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followColours();
dark.addEventListener('change', followColours);

/* A request of "Try it out" carries the session cookie, because it goes to this host. */

const main = document.getElementById('swagger-ui');
const { role, roles } = main.dataset;
const order = roles.split(' ');
const mayCall = (needed) => order.indexOf(needed) <= order.indexOf(role);

let readAgain = () => undefined;
/** Whether a request is under way that may approve something, ask for approval, or turn the kill switch. */
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
  plugins: [pagePlugin(mayCall)],
  requestInterceptor: (request) => {
    mayHaveChanged ||= request.method !== 'GET';
    return request;
  },
  responseInterceptor: (response) => {
    // Of a session that has ended it leads to the login.
    if (mayHaveChanged || response.status === 401) readAgain();
    mayHaveChanged = false;
    return response;
  },
});
const readSwitch = showKillSwitch(document.getElementById('kill-switch'));
const readApprovals = showApprovals(document.getElementById('approvals'), ui);
readAgain = () => {
  void readSwitch();
  void readApprovals();
};
await readApprovals();
const linked = linkedIn(location.search);
if (linked) await showLinked(linked, ui);
