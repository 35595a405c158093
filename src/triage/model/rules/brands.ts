/** Names that phishing borrows most, for events in which nobody of these names takes part. Only names that are no everyday words. */
const BRANDS = [
  'microsoft',
  'office365',
  'sharepoint',
  'onedrive',
  'docusign',
  'dropbox',
  'paypal',
  'google',
  'amazon',
  'icloud',
  'netflix',
  'linkedin',
  'facebook',
  'instagram',
  'whatsapp',
  'coinbase',
] as const;
const DOMAIN_ENDS = ['com', 'net', 'org'];
/** What only a trap adds to a name with a hyphen. */
const BAIT = new Set(
  (
    'login logon signin sign secure security verify verification account accounts billing password reset support ' +
    'unlock auth sso mfa'
  ).split(' '),
);

/** Networks and gateways that carry honest hosts below a name of their own: `www.amazon.com.edgekey.net`. */
const CARRIERS = new Set([
  'akadns.net',
  'akamaiedge.net',
  'akamaized.net',
  'edgekey.net',
  'edgesuite.net',
  'trafficmanager.net',
  'cloudfront.net',
  'mcas.ms',
]);

/** As the eye reads it: one for l, zero for o, two v for w. */
export const seen = (label: string): string =>
  label
    .replaceAll('1', 'l')
    .replaceAll('0', 'o')
    .replaceAll('3', 'e')
    .replaceAll('vv', 'w')
    .replaceAll('rn', 'm');

/** `micros0ft-login.test`, `microsoft-login.test` and `docusign.com.one.test`. */
export function imitatesBrand(host: string, registered: string): boolean {
  if (CARRIERS.has(registered)) return false;
  const below = host.slice(0, Math.max(0, host.length - registered.length)).split('.');
  if (below.some((label, at) => isBrand(label) && DOMAIN_ENDS.includes(below[at + 1] ?? ''))) {
    return true;
  }
  const parts = registered.split('.', 1)[0]!.split('-');
  const baited = parts.some((part) => BAIT.has(part));
  return parts.some((part) => (isBrand(part) ? baited : isBrand(seen(part))));
}

const isBrand = (label: string): boolean => (BRANDS as readonly string[]).includes(label);
