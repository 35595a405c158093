import type { Preset } from '../preset.js';

export const CLOUDFLARE: Preset = {
  name: 'cloudflare',
  title: 'Cloudflare notifications',
  documentation:
    'The body of a generic webhook (https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/).',
  setUp: [
    'Under Notifications > Destinations make a webhook to {url}, with the secret of the source. Cloudflare sends it in the header cf-webhook-auth, which the signature scheme `token` reads.',
    'Make notifications for what somebody has to look at: DDoS attacks, security events, origin errors, certificates.',
    'Cloudflare sends a test message when the webhook is saved, and saves it only when the message is accepted: it becomes an incident, which can be resolved at once.',
    'The severity is that of the kind of alert, because the body has none: name further kinds in the severity_mapping of the source.',
  ],
  mapping: {
    title: [
      ['/name', '/data/target_hostname'],
      ['/name', '/data/target_ip'],
      ['/name', '/data/zone_name'],
      ['/name', '/data/attack_id'],
      ['/policy_name', '/alert_type'],
      ['/name', '/alert_type'],
      '/name',
      '/text',
    ],
    severity: ['/data/severity', '/alert_type'],
    event_id: ['/alert_correlation_id', ['/policy_id', '/ts', '/text']],
    type: ['/alert_type', '/name'],
    lift: {
      host: ['/data/target_hostname', '/data/target_ip'],
      domain: '/data/zone_name',
      account: '/data/account_name',
      rule: '/alert_type',
      description: '/text',
      link: '/data/dashboard_link',
    },
  },
  severityMapping: {
    dos_attack_l4: 'high',
    dos_attack_l7: 'high',
    advanced_ddos_attack_l4_alert: 'high',
    advanced_ddos_attack_l7_alert: 'high',
    clickhouse_alert_fw_anomaly: 'medium',
    clickhouse_alert_fw_ent_anomaly: 'medium',
    http_alert_origin_error: 'medium',
    health_check_status_notification: 'medium',
    universal_ssl_event_type: 'low',
  },
  signature: 'token',
};
