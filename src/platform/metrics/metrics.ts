import { Injectable } from '@nestjs/common';
import { counter, gauge, histogram, LONG_WAITS, LONG_WORK, REQUESTS } from './metric-kinds.js';

/**
 * Every metric of the service, typed. A label never takes a value that a caller can invent: what is not in a fixed or
 * registered set is counted as `other` (see knownOr). Gauges that tell what is in the database are read when someone
 * scrapes: see ScrapedGauges.
 */
@Injectable()
export class Metrics {
  readonly httpRequests = counter('http_requests_total', 'HTTP requests answered.', [
    'method',
    'route',
    'status',
  ]);
  readonly httpDuration = histogram(
    'http_request_duration_seconds',
    'Time to answer a request.',
    ['method', 'route'],
    REQUESTS,
  );
  readonly httpInFlight = gauge('http_requests_in_flight', 'Requests being answered.', []);
  readonly poolActive = gauge('db_pool_connections_active', 'Database connections in use.', []);

  readonly incidents = counter('incidents_total', 'Incidents created.', ['type', 'severity']);
  readonly actionsExecuted = counter('actions_executed_total', 'Actions that ended.', [
    'action_type',
    'status',
  ]);
  readonly webhooksReceived = counter('webhook_received_total', 'Webhook receipts.', ['source']);
  readonly webhookErrors = counter('webhook_errors_total', 'Webhook receipts refused or failed.', [
    'source',
    'code',
  ]);

  readonly triageDuration = histogram(
    'triage_duration_seconds',
    'Time from the start to the end of a triage run.',
    ['status'],
    LONG_WORK,
  );
  readonly llmTokens = counter(
    'llm_tokens_total',
    'Tokens sent to (input) and got from (output) the model.',
    ['direction'],
  );
  readonly approvalsPending = gauge('approvals_pending', 'Actions that wait for a person.', []);
  readonly approvalWait = histogram(
    'approval_wait_seconds',
    'Time from the request of an action to its approval or rejection.',
    [],
    LONG_WAITS,
  );

  readonly killSwitchActive = gauge('kill_switch_active', 'Whether the kill switch is on.', []);
  readonly jobsWaiting = gauge(
    'jobs_waiting',
    'Jobs that are due, deferred or to be tried again.',
    [],
  );
  readonly auditUnsealed = gauge('audit_unsealed', 'Audit entries that wait to be sealed.', []);
  readonly auditOldestUnsealed = gauge(
    'audit_oldest_unsealed_seconds',
    'Age of the oldest audit entry that waits to be sealed; 0 when none does.',
    [],
  );
  readonly auditChainOk = gauge(
    'audit_chain_ok',
    'Whether the end of the audit chain is as it was seen before, and continued.',
    [],
  );
  readonly connectorUp = gauge('connector_up', 'Whether an enabled connector answers.', [
    'connector',
  ]);
}
