import { STORY } from '../../../src/platform/openapi/story.js';
import { type Actor, by, type Scene, unshown } from './scene.js';

/* The story that the examples of the contract tell, from its beginning to its end. */

const PASSWORD = 'orchid-Kayak7-lantern';

const [nobody, alice, bob, carol, admin] = (
  ['nobody', 'alice', 'bob', 'carol', 'admin'] satisfies Actor[]
).map((actor) => by(actor)) as [By, By, By, By, By];
type By = ReturnType<typeof by>;

const colleague = (username: string, role: string, id: string): Scene[] => [
  unshown('admin', 'createUser', {
    body: { username, password: PASSWORD, role },
    status: 201,
    answer: { data: { id } },
  }),
];

const logsIn = (username: string, agent: string): Scene =>
  unshown('nobody', 'logIn', {
    headers: { 'user-agent': agent },
    body: { username, password: PASSWORD },
    status: 200,
  });

/** How long the sandbox takes for each action from now on. */
const sandboxTakes = (latency_ms: number): Scene =>
  unshown('admin', 'updateConnector', {
    path: { id: STORY.sandbox },
    body: { config: { latency_ms } },
    status: 200,
  });

const PEOPLE = [
  ...admin('createUser', 'analyst', 'conflict', 'weak_password'),
  ...colleague('dave', 'viewer', STORY.dave),
  ...colleague('bob', 'senior', '019c0f6d-57b5-7000-a7f8-8417272036a2'),
  ...colleague('carol', 'manager', '019c0f6d-5841-7000-b577-bf8573307443'),
  ...nobody('getServiceIndex', 'index'),
  ...nobody('getLoginPage', 'page'),
  ...nobody('logIn', 'logged_in', 'invalid_credentials'),
  ...['bob', 'carol'].map((name) => logsIn(name, 'a browser')),
  logsIn('alice', 'soc-dashboard/2.1'),
  ...alice('getMe', 'user'),
  ...alice('listMySessions', 'two'),
  ...alice('endMySession', 'ended', 'not_found'),
  ...alice('changeMyPassword', 'changed', 'invalid_credentials'),
  ...admin('createApiKey', 'with_limits', 'conflict'),
  ...admin('listApiKeys', 'made_by_admin'),
  ...admin('deleteApiKey', 'revoked', 'not_found'),
  ...admin('listUsers', 'newest'),
  ...admin('getUser', 'analyst'),
  ...admin('updateUser', 'promoted', 'disabled'),
  ...admin('deleteUser', 'deleted'),
  unshown('admin', 'listUsers', {
    query: { sort: 'username', per_page: '1' },
    status: 200,
    answer: { data: [{ id: STORY.admin, username: 'admin' }] },
  }),
  ...admin('deleteUser', 'invalid_state'),
  ...admin('updateUser', 'invalid_state'),
  ...alice('listUsers', 'forbidden'),
];

const TOOLS = [
  ...admin('createConnector', 'http'),
  unshown('admin', 'deleteConnector', { path: { id: STORY.firewall }, status: 200 }),
  ...admin('createConnector', 'sandbox', 'crowdstrike', 'conflict'),
  ...alice('listConnectors', 'by_name'),
  ...alice('getConnector', 'crowdstrike'),
  ...admin('updateConnector', 'preferred', 'conflict', 'secret_required'),
  ...admin('testConnector', 'answers'),
  ...by('alice', { excerpt: true })('listConnectorTypes', 'excerpt'),
  ...alice('getConnectorHealth', 'two'),
  ...admin('deleteConnector', 'deleted', 'not_found'),
  ...admin('createNotificationChannel', 'webhook', 'conflict'),
  ...admin('listNotificationChannels', 'by_name'),
  ...by('admin', { excerpt: true })('listNotificationChannelTypes', 'excerpt'),
  ...admin('getNotificationChannel', 'webhook'),
  ...admin('updateNotificationChannel', 'only_critical'),
  ...admin('deleteNotificationChannel', 'deleted'),
  ...admin('createWebhookSource', 'siem', 'preset', 'conflict'),
  ...admin('listWebhookSources', 'by_name'),
  ...admin('getWebhookSource', 'siem'),
  ...by('admin', { excerpt: true })('listWebhookPresets', 'excerpt'),
  ...admin('previewWebhookEvent', 'one_incident'),
];

const EVENTS = [
  ...nobody('receiveWebhook', 'generic', 'email_alert', 'endpoint_alert', 'log_alert', 'ocsf'),
  ...nobody('receiveWebhook', 'duplicate'),
  ...by('nobody', { hurried: true })('receiveWebhook', 'queued'),
  ...nobody('receiveWebhook', 'validation_error', 'invalid_signature', 'unknown_source'),
  ...alice('listWebhookEvents', 'failed'),
  ...alice('getWebhookEvent', 'failed'),
  ...alice('getAttention', 'failed_event'),
  ...alice('completeAttentionItem', 'done', 'not_found'),
  ...admin('updateWebhookSource', 'mapping'),
  ...alice('replayWebhookEvent', 'processed', 'invalid_state'),
  ...alice('getWebhookEvent', 'processed'),
  ...admin('deleteWebhookSource', 'deleted'),
  ...admin('getWebhookSource', 'not_found'),
];

const TRIAGE = [
  ...alice('createIncident', 'phishing', 'suspicious_login', 'validation_error'),
  ...alice('triageIncident', 'completed', 'queued', 'validation_error'),
  ...alice('listTriageRuns', 'one'),
  ...alice('getTriageRun', 'completed'),
  ...alice('getIncident', 'triaged'),
  ...alice('listIncidents', 'severe_mails'),
  ...alice('updateIncident', 'rate_again', 'precondition_failed'),
  // The other incident is triaged in the background.
  {
    ...unshown('alice', 'getTriageRun', {
      path: { id: STORY.strangeLogin, triage_id: STORY.queuedRun },
      status: 200,
      answer: { data: { status: 'completed' } },
    }),
    patient: true,
  } satisfies Scene,
  ...alice('updateIncident', 'decide_by_hand', 'validation_error'),
];

const ACTIONS = [
  ...alice('executeIncidentAction', 'completed', 'pending_approval', 'failed', 'validation_error'),
  ...alice('executeAction', 'completed', 'pending_approval'),
  ...by('alice', { excerpt: true })('listActionTypes', 'excerpt'),
  ...bob('listActions', 'waiting'),
  ...alice('listIncidentActions', 'all'),
  ...bob('getAction', 'pending_approval'),
  ...alice('approveAction', 'insufficient_approval_level'),
  ...alice('rejectAction', 'insufficient_approval_level'),
  ...bob('approveAction', 'completed', 'invalid_state'),
  ...alice('getAction', 'completed'),
  ...bob('rejectAction', 'rejected', 'invalid_state'),
  unshown('bob', 'executeAction', {
    body: { action: 'block_ip', parameters: { ip: '203.0.113.7' } },
    status: 202,
    answer: { data: { action_id: STORY.blockIp } },
  }),
  ...bob('approveAction', 'forbidden'),
  ...bob('rollBackAction', 'completed', 'invalid_state', 'rollback_not_supported'),
  unshown('alice', 'executeIncidentAction', {
    path: { id: STORY.mail },
    body: { action: 'block_sender', parameters: { sender: 'ceo@examp1e.com' } },
    status: 200,
    answer: { data: { action_id: STORY.blockSender } },
  }),
  ...alice('rollBackAction', 'pending_approval'),
  ...alice('getAction', 'rolled_back'),
  sandboxTakes(2_000),
  ...by('alice', { hurried: true })('executeAction', 'pending'),
  ...by('carol', { hurried: true })('approveAction', 'pending'),
  sandboxTakes(0),
  {
    ...unshown('carol', 'getAction', {
      path: { id: STORY.unblockSender },
      status: 200,
      answer: { data: { status: 'completed' } },
    }),
    patient: true,
  } satisfies Scene,
];

const PLAYBOOKS = [
  ...bob('createPlaybook', 'reported_mail', 'conflict', 'validation_error'),
  ...alice('validatePlaybook', 'valid', 'validation_error'),
  ...alice('getPlaybook', 'by_name'),
  ...alice('listPlaybooks', 'newest'),
  ...alice('runPlaybook', 'dry_run', 'waiting_approval'),
  ...alice('getPlaybookRun', 'waiting_approval'),
  ...alice('listPlaybookRuns', 'waiting_approval'),
  ...alice('listAllPlaybookRuns', 'of_incident'),
  ...alice('findPlaybookRun', 'waiting_approval'),
  ...bob('cancelPlaybookRun', 'cancelled', 'invalid_state'),
  unshown('alice', 'runPlaybook', {
    path: { id: 'reported-mail' },
    body: { incident_id: STORY.mail },
    status: 202,
    answer: {
      data: { run_id: STORY.secondRun, steps: [{}, { action_id: STORY.secondStepAction }] },
    },
  }),
  unshown('bob', 'approveAction', { path: { id: STORY.secondStepAction }, status: 200 }),
  ...by('alice', { patient: true })('getPlaybookRun', 'completed'),
  ...bob('updatePlaybook', 'disable', 'precondition_failed', 'conflict'),
  ...alice('listPlaybookVersions', 'two'),
  ...alice('runPlaybook', 'invalid_state'),
  ...bob('deletePlaybook', 'deleted'),
  ...bob('getPlaybook', 'not_found'),
];

const END = [
  ...alice('getKillSwitch', 'off'),
  ...alice('activateKillSwitch', 'activated'),
  ...alice('getKillSwitch', 'on'),
  ...alice('executeIncidentAction', 'kill_switch_active'),
  ...alice('deactivateKillSwitch', 'forbidden'),
  ...carol('deactivateKillSwitch', 'resumed'),
  ...bob('updateIncident', 'resolve'),
  unshown('alice', 'executeIncidentAction', {
    path: { id: STORY.mail },
    body: { action: 'block_ip', parameters: { ip: '203.0.113.7' } },
    status: 202,
    answer: { data: { action_id: STORY.lateBlock } },
  }),
  ...bob('approveAction', 'incident_resolved'),
  ...alice('listIncidentTimeline', 'first', 'last'),
  ...alice('listIncidentReports', 'none'),
  ...alice('listIncidents', 'malicious'),
  ...alice('getIncident', 'resolved'),
  ...admin('deleteIncident', 'deleted'),
  ...admin('getIncident', 'not_found'),
  ...by('carol', { patient: true })('listAudit', 'incident_created'),
  ...carol('verifyAudit', 'valid'),
  ...by('admin', { excerpt: true })('exportAudit', 'lines'),
  ...['getHealth', 'getDetailedHealth', 'getHealthUnderApi', 'getDetailedHealthUnderApi'].flatMap(
    (id) => carol(id, 'healthy'),
  ),
  ...['getLiveness', 'getLivenessUnderApi'].flatMap((id) => carol(id, 'alive')),
  ...['getReadiness', 'getReadinessUnderApi'].flatMap((id) => carol(id, 'ready')),
  ...[
    'getMetrics',
    'getMetricsUnderApi',
    'getOpenApiJson',
    'getOpenApi31Json',
    'getOpenApiYaml',
  ].flatMap((id) => by('carol', { excerpt: true })(id, 'excerpt')),
  ...carol('getPasswordPage', 'page'),
  ...carol('changePasswordByForm', 'changed'),
  ...bob('logOut', 'logged_out'),
];

export const SCENES: readonly Scene[] = [
  ...PEOPLE,
  ...TOOLS,
  ...EVENTS,
  ...TRIAGE,
  ...ACTIONS,
  ...PLAYBOOKS,
  ...END,
];
