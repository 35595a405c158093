import type { ActionCall, Outcome } from '../../connector.port.js';
import type { Scan } from './falcon-api.js';

/** Where what a user opens or an intruder drops is usually found. */
const QUICK = ['C:\\Users\\*', 'C:\\ProgramData\\*', 'C:\\Windows\\Temp\\*'];
const EVERYTHING = ['*'];

const MODERATE = 2;
const DISABLED = 0;
const HALF_OF_THE_CPU = 3;
const HOURS = 2;

/** So the scan of an action is found again: the vendor has no idempotency keys. */
export function descriptionOf({ actionId }: ActionCall): string {
  return `Incident triage ${actionId}`;
}

/**
 * The request for a scan. It needs nobody's approval, so it changes nothing on the host: what it finds is reported and not quarantined.
 * Who sits at the host is not told.
 */
export function scanRequest(call: ActionCall, deviceId: string): object {
  return {
    hosts: [deviceId],
    host_groups: [],
    file_paths: call.parameters.scan_type === 'full' ? EVERYTHING : QUICK,
    scan_inclusions: [],
    scan_exclusions: [],
    description: descriptionOf(call),
    initiated_from: 'falcon_adhoc',
    quarantine: false,
    endpoint_notification: false,
    cpu_priority: HALF_OF_THE_CPU,
    max_duration: HOURS,
    pause_duration: HOURS,
    sensor_ml_level_detection: MODERATE,
    sensor_ml_level_prevention: DISABLED,
    cloud_ml_level_detection: MODERATE,
    cloud_ml_level_prevention: DISABLED,
  };
}

/**
 * The action starts a scan, which may then take hours: it is done when the scan has begun. Until the host is online the
 * scan waits. The vendor's schema names no values; what is not known is waited for, as long as an action may take.
 */
export function scanOutcome({ id, status }: Scan): Outcome {
  switch (status) {
    case 'running':
    case 'completed':
      return {
        kind: 'done',
        message: `The scan is ${status}.`,
        data: { scan_id: id, status },
      };
    case 'failed':
    case 'canceled':
      return { kind: 'refused', message: `The scan was ${status} at the vendor.` };
    default:
      return { kind: 'accepted', message: 'The scan has not begun.', handle: { scan_id: id } };
  }
}
