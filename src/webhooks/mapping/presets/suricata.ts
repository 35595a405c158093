import type { Preset } from '../preset.js';

export const SURICATA: Preset = {
  name: 'suricata',
  title: 'Suricata (eve.json)',
  documentation:
    'Records of the type alert of eve.json, one or a list (https://docs.suricata.io/en/latest/output/eve/eve-json-format.html). Severity 1 is the most serious.',
  setUp: [
    'Suricata writes files and sends nothing itself: let a log shipper such as Vector or Fluent Bit read eve.json and keep only the records with event_type alert.',
    'Its HTTP output: POST to {url}, JSON, header X-Webhook-Token with the secret. Batches are fine when they are sent as one JSON list, not as lines.',
    'Log shippers cannot compute a signature over the body, so the source is registered with the signature `token`.',
  ],
  mapping: {
    items: '',
    title: [['/alert/signature', '/src_ip', '/dest_ip'], '/alert/signature'],
    severity: '/alert/severity',
    // Several rules may fire in one flow, and one rule several times.
    event_id: [
      ['/flow_id', '/alert/signature_id', '/timestamp', '/tx_id'],
      ['/flow_id', '/alert/signature_id', '/timestamp'],
    ],
    type: ['/alert/category', '/alert/signature'],
    lift: {
      host: '/dest_ip',
      ip: '/src_ip',
      domain: ['/tls/sni', '/http/hostname', '/dns/query/0/rrname', '/dns/rrname'],
      url: '/http/url',
      file: ['/fileinfo/filename', '/files/0/filename'],
      hash: ['/fileinfo/sha256', '/files/0/sha256'],
      outcome: '/alert/action',
      rule: '/alert/signature_id',
      description: '/alert/category',
    },
  },
  severityMapping: { '1': 'high', '2': 'medium', '3': 'low', '4-255': 'low' },
  incidentType: 'intrusion',
  signature: 'token',
};
