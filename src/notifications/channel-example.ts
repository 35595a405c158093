export const NEW_CHANNEL_EXAMPLE = {
  name: 'soc',
  type: 'webhook',
  config: { url: 'https://hooks.example.com/incidents' },
  events: ['incident.created', 'action.pending_approval'],
  min_severity: 'high',
};

/** Bytes that nobody uses. */
export const SECRET_EXAMPLE = `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`;
