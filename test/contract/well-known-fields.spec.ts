import { readFileSync, writeFileSync } from 'node:fs';
import { readSamples } from '../support/webhooks/samples.js';

const TABLE = 'test/fixtures/webhooks/fields.md';

const HEAD = `# What presets and formats read

Each event of each sample beside this file: the incident that it makes, and its well-known fields
([what they mean](../../../docs/webhooks.md#fields)). Somebody has read every line. After a change of a preset or format:
\`WRITE_TABLE=1 npm test -- test/contract/well-known-fields\`, and read the lines that changed.
`;

/** Longer values of a sample are cut: the beginning shows what the field is. */
const LONGEST = 160;

function table(): string {
  const lines: string[] = [HEAD];
  let last = '';
  for (const { sample, incident } of readSamples()) {
    if (sample !== last) lines.push(`## ${sample}\n`);
    last = sample;
    const { title, incident_type, severity, fields = {} } = incident;
    lines.push(`**${code(title)}**: ${incident_type}, ${severity}\n`);
    const told = Object.entries(fields).map(([name, text]) => `- ${name}: ${code(text)}`);
    lines.push(`${told.join('\n')}\n`);
  }
  return lines.join('\n');
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('`', "'");
  return `\`${line.length > LONGEST ? `${line.slice(0, LONGEST)} …` : line}\``;
}

describe('the table of well-known fields', () => {
  it('lists the fields that presets and formats read from each sample', () => {
    if (process.env['WRITE_TABLE']) writeFileSync(TABLE, table());
    expect(readFileSync(TABLE, 'utf8')).toBe(table());
  });
});
