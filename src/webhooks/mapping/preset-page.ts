import type { Preset } from '../sources/webhook-source.js';

const HEAD = `# Webhook presets

For admins who connect one of these tools. Each section has the settings in the tool, and the severities that the preset
knows beside the [usual words](webhooks.md#severity). Register a source:

\`\`\`text
POST /api/webhooks {"source": "alerts", "secret": "…", "preset": "alertmanager"}
\`\`\`

\`{url}\` below is the address of the source, such as \`https://triage.example.com/api/webhooks/alerts\`. The request may set
all other fields, too. \`GET /api/webhooks/presets\` returns the presets, and \`POST /api/webhooks/alerts/preview\` shows the
incidents that a body would create. See [mappings](webhooks.md#mappings) for other tools, and
[signatures](webhooks.md#sign) for their strength.

\`npm run webhook-presets\` writes this page from \`src/webhooks/mapping/presets\`.
`;

/** Renders docs/webhook-presets.md. */
export function presetPage(presets: readonly Preset[]): string {
  const contents = presets.map(({ name, title }) => `- [${title}](#${name})`).join('\n');
  return [HEAD, `${contents}\n`, ...presets.map(sectionOf)].join('\n');
}

function sectionOf(preset: Preset): string {
  const { name, title, documentation, setUp, signature, incidentType } = preset;
  const parts = [
    `## ${name}`,
    `${title}: ${literal(documentation)}`,
    setUp.map((sentence, at) => `${at + 1}. ${literal(sentence)}`).join('\n'),
    `Signature: ${code(signature)}. Usual type: ${code(incidentType ?? 'other')}.${severitiesOf(preset)}${typesOf(preset)}${liftedOf(preset)}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function severitiesOf({ severityMapping = {} }: Preset): string {
  const words = Object.entries(severityMapping).map(([word, level]) => `${code(word)} ${level}`);
  return words.length === 0 ? '' : ` Severities: ${words.join(', ')}.`;
}

function typesOf({ typeMapping = {} }: Preset): string {
  const words = Object.entries(typeMapping).map(([word, type]) => `${code(word)} ${code(type)}`);
  return words.length === 0 ? '' : ` Types: ${words.join(', ')}.`;
}

function liftedOf({ mapping: { lift = {} } }: Preset): string {
  const keys = Object.keys(lift).map(code);
  return keys.length === 0 ? '' : ` Fields: ${keys.join(', ')}.`;
}

function code(word: string): string {
  return `\`${word}\``;
}

/** Escapes `<` and `*` outside code. */
function literal(text: string): string {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/[<*]/g, '\\$&')))
    .join('`');
}
