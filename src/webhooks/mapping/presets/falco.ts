import type { Preset } from '../preset.js';

export const FALCO: Preset = {
  name: 'falco',
  title: 'Falco (with Falcosidekick)',
  documentation:
    'Events of Falco as JSON (https://falco.org/docs/concepts/outputs/formatting/), which the webhook output of Falcosidekick passes on (https://github.com/falcosecurity/falcosidekick/blob/master/docs/outputs/webhook.md).',
  setUp: [
    'In falco.yaml set json_output and json_include_output_property to true, and http_output to Falcosidekick.',
    'In Falcosidekick set webhook.address to {url}, webhook.customheaders to X-Webhook-Token with the secret, and webhook.minimumpriority, for example to warning.',
    'Falco alone sends no header that could hold a secret, and neither of them signs, so the source is registered with the signature `token`.',
  ],
  mapping: {
    title: [
      ['/rule', '/output_fields/k8s.pod.name'],
      ['/rule', '/hostname'],
      ['/rule', '/output_fields/container.name'],
      '/rule',
      '/output',
    ],
    severity: '/priority',
    event_id: ['/uuid', ['/hostname', '/time', '/output'], ['/time', '/output']],
    type: ['/rule', '/tags/0', '/tags/1', '/tags/2'],
    lift: {
      host: ['/hostname', '/output_fields/evt.hostname'],
      user: '/output_fields/user.name',
      ip: ['/output_fields/fd.rip', '/output_fields/fd.sip'],
      file: '/output_fields/fd.name',
      process: ['/output_fields/proc.cmdline', '/output_fields/proc.name'],
      container: [
        '/output_fields/k8s.pod.name',
        '/output_fields/container.name',
        '/output_fields/container.id',
      ],
      resource: '/output_fields/container.image.repository',
      rule: '/rule',
      description: '/output',
    },
  },
  severityMapping: {
    emergency: 'critical',
    alert: 'critical',
    critical: 'critical',
    error: 'high',
    warning: 'medium',
    notice: 'low',
    informational: 'low',
    debug: 'low',
  },
  incidentType: 'intrusion',
  signature: 'token',
};
