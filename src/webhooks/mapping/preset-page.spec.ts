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

describe('the page of presets', () => {
  it('tells of each preset what it is, what to set, and what is made of its events', () => {
    const page = presetPage([PRESET]);
    expect(page).toContain('- [Bell](#bell)\n');
    expect(page).toContain('## bell\n\nBell: Rings (https://bell.example.com/docs).\n');
    expect(page).toContain('1. Send to {url} with `a <b>`.\n');
    expect(page).toContain(
      'Signature: `token`. Type where the event does not tell one: `policy_violation`. ' +
        'Severities beside the usual words: `0-3` low, `loud` high. Lifted: `host`, `ip`.\n',
    );
  });

  it('shows what Markdown would take for marks as it is written', () => {
    expect(presetPage([PRESET])).toContain('2. Answer with \\<value>, and mind the \\*.\n');
  });

  it('leaves out what a preset does not have', () => {
    expect(presetPage([BARE])).toContain(
      'Signature: `token`. Type where the event does not tell one: `other`.\n',
    );
  });
});
