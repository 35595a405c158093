import { ACTION_EXAMPLES } from './actions/actions.examples.js';
import { APPROVAL_EXAMPLES } from './approvals/approvals.examples.js';
import { ATTENTION_EXAMPLES } from './attention/attention.examples.js';
import { AUDIT_EXAMPLES } from './audit/audit.examples.js';
import { API_KEY_EXAMPLES } from './auth/keys/api-keys.examples.js';
import { LOGIN_EXAMPLES } from './auth/login/login.examples.js';
import { ME_EXAMPLES } from './auth/me/me.examples.js';
import { USER_EXAMPLES } from './auth/users/users.examples.js';
import { CONNECTOR_EXAMPLES } from './connectors/connectors.examples.js';
import { DEAD_JOB_EXAMPLES } from './dead-jobs/dead-jobs.examples.js';
import { HEALTH_EXAMPLES } from './health/health.examples.js';
import { INCIDENT_EXAMPLES } from './incidents/incidents.examples.js';
import { INCIDENT_REPORT_EXAMPLES } from './incidents/reports/incident-reports.examples.js';
import { KILL_SWITCH_EXAMPLES } from './kill-switch/kill-switch.examples.js';
import { METRICS_EXAMPLES } from './platform/metrics/metrics.examples.js';
import { SERVICE_INDEX_EXAMPLES } from './platform/docs/service-index.examples.js';
import { CONTRACT_EXAMPLES } from './platform/openapi/contract.examples.js';
import { gathered } from './platform/openapi/examples.js';
import { NOTIFICATION_EXAMPLES } from './notifications/notifications.examples.js';
import { PLAYBOOK_EXAMPLES } from './playbooks/playbooks.examples.js';
import { PLAYBOOK_RUN_EXAMPLES } from './playbooks/runs/playbook-runs.examples.js';
import { TRIAGE_EXAMPLES } from './triage/triage.examples.js';
import { WEBHOOK_EVENT_EXAMPLES } from './webhooks/events/webhook-events.examples.js';
import { RECEIPT_EXAMPLES } from './webhooks/receipt/receipt.examples.js';
import { WEBHOOK_SOURCE_EXAMPLES } from './webhooks/sources/webhook-sources.examples.js';

/** The examples of all operations. Together they tell one story: see test/support/examples/story.ts, which plays it. */
export const examples = gathered([
  INCIDENT_EXAMPLES,
  INCIDENT_REPORT_EXAMPLES,
  TRIAGE_EXAMPLES,
  ACTION_EXAMPLES,
  APPROVAL_EXAMPLES,
  PLAYBOOK_EXAMPLES,
  PLAYBOOK_RUN_EXAMPLES,
  KILL_SWITCH_EXAMPLES,
  CONNECTOR_EXAMPLES,
  NOTIFICATION_EXAMPLES,
  WEBHOOK_SOURCE_EXAMPLES,
  RECEIPT_EXAMPLES,
  WEBHOOK_EVENT_EXAMPLES,
  ATTENTION_EXAMPLES,
  USER_EXAMPLES,
  API_KEY_EXAMPLES,
  ME_EXAMPLES,
  LOGIN_EXAMPLES,
  AUDIT_EXAMPLES,
  DEAD_JOB_EXAMPLES,
  HEALTH_EXAMPLES,
  METRICS_EXAMPLES,
  CONTRACT_EXAMPLES,
  SERVICE_INDEX_EXAMPLES,
]);
