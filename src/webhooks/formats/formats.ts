import type { Alert, EventFormat } from '../reading/alert.js';
import type { Json } from '../reading/json.js';
import { emailAlert } from './email-alert.js';
import { endpointAlert } from './endpoint-alert.js';
import { generic } from './generic.js';
import { logAlert } from './log-alert.js';
import { ocsf } from './ocsf.js';

type FormatName = EventFormat['name'];

const FORMATS: Readonly<Record<FormatName, EventFormat>> = {
  generic,
  email_alert: emailAlert,
  endpoint_alert: endpointAlert,
  log_alert: logAlert,
  ocsf,
};

export function eventFormats(): readonly EventFormat[] {
  return Object.values(FORMATS);
}

export function formatNamed(name: FormatName): EventFormat {
  return FORMATS[name];
}

/** Reads the event in that format. Undefined when it does not fit; for `auto`, when it fits none or several. */
export function readAs(format: FormatName | 'auto', event: Json): Alert | undefined {
  if (format !== 'auto') return formatNamed(format).read(event);
  const alerts = eventFormats().flatMap((one) => one.read(event) ?? []);
  return alerts.length === 1 ? alerts[0] : undefined;
}
