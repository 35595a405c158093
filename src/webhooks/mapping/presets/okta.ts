import type { Preset } from '../preset.js';

export const OKTA: Preset = {
  name: 'okta',
  title: 'Okta event hooks',
  documentation:
    'Event hooks, with one or many events in one body (https://developer.okta.com/docs/concepts/event-hooks/); an event is one of the System Log (https://developer.okta.com/docs/api/openapi/okta-management/management/tag/SystemLog/).',
  setUp: [
    'In the Admin Console under Workflow > Event Hooks make a hook to {url}, with the authentication field X-Webhook-Token and the secret as authentication secret.',
    'Choose only events that somebody has to look at, for example security.threat.detected, user.account.lock or user.session.access_admin_app: a hook for every login makes an incident of every login.',
    'Okta asks once with a GET request and the header X-Okta-Verification-Challenge whether the address is yours. This service does not answer it: for the moment of the verification let a reverse proxy answer GET at this address with {"verification":"<the value of the header>"}.',
    'Event hooks are not signed, so the source is registered with the signature `token`.',
  ],
  mapping: {
    items: '/data/events',
    title: [['/displayMessage', '/actor/alternateId'], '/displayMessage', '/eventType'],
    severity: '/severity',
    event_id: '/uuid',
    type: ['/displayMessage', '/eventType'],
    lift: {
      user: ['/actor/alternateId', '/target/0/alternateId'],
      ip: ['/client/ipAddress', '/request/ipChain/0/ip'],
      resource: '/target/0/displayName',
      rule: '/eventType',
      outcome: '/outcome/result',
      description: '/outcome/reason',
    },
  },
  severityMapping: { debug: 'low', info: 'low', warn: 'medium', error: 'high' },
  incidentType: 'suspicious_login',
  signature: 'token',
};
