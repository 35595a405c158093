/** What messages link to, by the names of event subjects. */
const API_PATHS = {
  incident: 'incidents',
  action: 'actions',
  connector: 'connectors',
  notification_channel: 'notification-channels',
  webhook_event: 'webhook-events',
} as const;
type LinkedKind = keyof typeof API_PATHS;

/** For programs, which have a key. Undefined without PUBLIC_URL. */
export function apiUrl(publicUrl: string | undefined, kind: LinkedKind, id: string) {
  return publicUrl && `${publicUrl}/api/${API_PATHS[kind]}/${encodeURIComponent(id)}`;
}

/**
 * For people: a page that leads over the login, and shows just this (platform/docs/browser/linked.mjs). In the query, because the
 * fragment of an address would be lost at the login.
 */
export function pageUrl(publicUrl: string | undefined, kind?: LinkedKind, id?: string) {
  const query = kind && id ? `?${kind}=${encodeURIComponent(id)}` : '';
  return publicUrl && `${publicUrl}/docs${query}`;
}
