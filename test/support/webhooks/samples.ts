import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewIncident } from '../../../src/incidents/incident.js';
import { presetNamed } from '../../../src/webhooks/reading/formats.js';
import { readEventJson } from '../../../src/webhooks/reading/event-json.js';
import { openBody } from '../../../src/webhooks/reading/read-events.js';

const SAMPLES = 'test/fixtures/webhooks';

export interface ReadSample {
  /** Path of the sample, such as `presets/okta/two-events.json`. */
  readonly sample: string;
  readonly incident: NewIncident;
}

/** Incidents that each preset and format creates from the samples of its tool. */
export function readSamples(): ReadSample[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:presets|formats)\/\w+\/[\w-]+\.json$/.test(path))
    .toSorted()
    .flatMap((sample) => {
      const [kind, name] = sample.split('/');
      const preset = kind === 'presets' ? presetNamed(name!) : undefined;
      const format = preset ? 'mapping' : 'auto';
      const body = readEventJson(readFileSync(join(SAMPLES, sample)));
      const read = openBody({ ...preset, source: 'tool', auto_triage: true, format }, body).read();
      if (typeof read === 'string') throw new Error(`${sample}: ${read}`);
      return read.map(({ incident, severity }) => ({
        sample,
        incident: { ...incident, severity },
      }));
    });
}
