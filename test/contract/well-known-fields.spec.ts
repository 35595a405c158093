import { readFileSync, writeFileSync } from 'node:fs';
import { PRESETS } from '../../src/webhooks/reading/formats.js';
import type { Preset } from '../../src/webhooks/sources/webhook-source.entity.js';
import { type ReadSample, readSamples } from '../support/webhooks/samples.js';

const SAMPLES = readSamples();

/** Maximum length of a sample value. The beginning of a longer value shows what the field is. */
const LONGEST = 160;

function tableOfFields(): string {
  const lines = [
    `# What presets and formats read

Each event of each sample beside this file: the incident that it makes, and its well-known fields
([what they mean](../../../docs/webhooks.md#fields)). Somebody has read every line. After a change of a preset or format:
\`WRITE_TABLE=1 npm test -- test/contract/well-known-fields\`, and read the lines that changed.
`,
  ];
  let last = '';
  for (const { sample, incident } of SAMPLES) {
    if (sample !== last) lines.push(`## ${sample}\n`);
    last = sample;
    const { title, incident_type, severity, fields = {} } = incident;
    lines.push(`**${code(title)}**: ${incident_type}, ${severity}\n`);
    const told = Object.entries(fields).map(([name, text]) => `- ${name}: ${code(text)}`);
    lines.push(`${told.join('\n')}\n`);
  }
  return lines.join('\n');
}

function code(text: string, longest = LONGEST): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '\\|');
  return `\`${line.length > longest ? `${line.slice(0, longest)} …` : line}\``;
}

const presetPage = (): string =>
  [
    `# Webhook presets

For admins who connect one of these tools. Register a source with the preset:

\`\`\`text
POST /api/webhooks {"source": "alerts", "secret": "…", "preset": "alertmanager"}
\`\`\`

The table shows an example of an incident for each preset. The sections list the settings in each tool, and the severities
that the preset knows in addition to the [usual words](webhooks.md#severity). \`{url}\` is the address of the source, such as
\`https://triage.example.com/api/webhooks/alerts\`. For other tools, write a [mapping](webhooks.md#mappings).

<!-- prettier-ignore -->
| preset: sample | severity | type | title | id of the event | entities |
|---|---|---|---|---|---|
${PRESETS.map(rowOf).join('\n')}
`,
    ...PRESETS.map(sectionOf),
  ].join('\n');

const ENTITIES =
  'sender recipient host user ip domain url file hash process container account resource repository package';

function rowOf({ name }: Preset): string {
  const { sample, incident }: ReadSample = SAMPLES.find(({ sample }) =>
    sample.startsWith(`presets/${name}/`),
  )!;
  const { severity, incident_type, title, fields = {} } = incident;
  const entities = ENTITIES.split(' ').flatMap((field) =>
    fields[field] ? `${field} ${code(fields[field], 40)}` : [],
  );
  const file = `[${sample.split('/')[2]}](../test/fixtures/webhooks/${sample})`;
  const id = code(fields['event_id']!, 40);
  const cells = [`[${name}](#${name}): ${file}`, severity, incident_type, code(title), id];
  return `| ${[...cells, entities.join(', ')].join(' | ')} |`;
}

function sectionOf(preset: Preset): string {
  const { name, title, documentation, set_up, signature, incident_type = 'other' } = preset;
  const { severity_mapping = {}, type_mapping = {}, mapping } = preset;
  const severities = Object.entries(severity_mapping).map(([word, to]) => `\`${word}\` ${to}`);
  const types = Object.entries(type_mapping).map(([word, to]) => `\`${word}\` \`${to}\``);
  const fields = Object.keys(mapping.lift ?? {}).map((field) => `\`${field}\``);
  const about = [
    `${title}: ${literal(documentation)} Signature: \`${signature}\`. Usual type: \`${incident_type}\`.`,
    ...[severities, types, fields].flatMap((words, at) =>
      words.length > 0 ? `${['Severities', 'Types', 'Fields'][at]}: ${words.join(', ')}.` : [],
    ),
  ];
  const steps = set_up.map((sentence, at) => `${at + 1}. ${literal(sentence)}`).join('\n');
  return `## ${name}\n\n${about.join(' ')}\n\n${steps}\n`;
}

/** Escapes `<` and `*` outside code. */
function literal(text: string): string {
  const parts = text.split('`');
  return parts.map((part, at) => (at % 2 ? part : part.replace(/[<*]/g, '\\$&'))).join('`');
}

describe('the documents about webhook samples', () => {
  it.each([
    ['test/fixtures/webhooks/fields.md', tableOfFields],
    ['docs/webhook-presets.md', presetPage],
  ])('%s shows what presets and formats read from the samples', (path, expected) => {
    if (process.env['WRITE_TABLE']) writeFileSync(path, expected());
    expect(readFileSync(path, 'utf8')).toBe(expected());
  });
});
