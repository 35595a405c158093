import type { Preset } from '../sources/webhook-source.js';
import { presetPage } from './preset-page.js';

const BARE: Preset = {
  name: 'bell',
  title: 'Bell',
  documentation: 'Rings (https://bell.example.com/docs).',
  setUp: ['Send to {url} with `a <b>`.', 'Answer with <value>, and mind the *.'],
  marks: [['/title']],
  mapping: { title: '/title' },
  signature: 'token',
};

const PRESET: Preset = {
  ...BARE,
  mapping: { title: '/title', lift: { host: '/host', ip: '/ip' } },
  severityMapping: { '0-3': 'low', loud: 'high' },
  incidentType: 'policy_violation',
};

describe('presetPage', () => {
  it('describes each preset with its set-up, signature, types, severities and fields', () => {
    const page = presetPage([PRESET]);
    expect(page).toContain('- [Bell](#bell)\n');
    expect(page).toContain('## bell\n\nBell: Rings (https://bell.example.com/docs).\n');
    expect(page).toContain('1. Send to {url} with `a <b>`.\n');
    expect(page).toContain(
      'Signature: `token`. Usual type: `policy_violation`. Severities: `0-3` low, `loud` high. ' +
        'Fields: `host`, `ip`.\n',
    );
  });

  it('escapes Markdown in the texts of a preset', () => {
    expect(presetPage([PRESET])).toContain('2. Answer with \\<value>, and mind the \\*.\n');
  });

  it('omits severities and fields that a preset does not have', () => {
    expect(presetPage([BARE])).toContain('Signature: `token`. Usual type: `other`.\n');
  });
});
