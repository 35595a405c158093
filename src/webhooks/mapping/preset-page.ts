import type { Preset } from '../sources/webhook-source.js';

const HEAD = `# Webhook presets

<!-- Written by \`npm run webhook-presets\` from src/webhooks/mapping/presets. -->

What is shipped for tools that many use: where their events have what an incident needs, and what to set at the tool. \`{url}\` stands for
the address of the source, such as \`https://triage.example.com/api/webhooks/alerts\`. An admin registers it with

\`\`\`text
POST /api/webhooks {"source": "alerts", "secret": "…", "preset": "alertmanager"}
\`\`\`

and may set every other field beside it; \`GET /api/webhooks/presets\` shows each preset whole, and
\`POST /api/webhooks/alerts/preview\` what incidents a body would make. For a tool that is not here see
[mappings](webhooks.md#mappings), for what a signature is worth [signatures](webhooks.md#sign).
`;

/** The page that tells people of the presets, in Markdown. */
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
    `Signature: ${code(signature)}. Type where the event does not tell one: ${code(incidentType ?? 'other')}.${severitiesOf(preset)}${typesOf(preset)}${liftedOf(preset)}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function severitiesOf({ severityMapping = {} }: Preset): string {
  const words = Object.entries(severityMapping).map(([word, level]) => `${code(word)} ${level}`);
  return words.length === 0 ? '' : ` Severities beside the usual words: ${words.join(', ')}.`;
}

function typesOf({ typeMapping = {} }: Preset): string {
  const words = Object.entries(typeMapping).map(([word, type]) => `${code(word)} ${code(type)}`);
  return words.length === 0 ? '' : ` Types: ${words.join(', ')}.`;
}

function liftedOf({ mapping: { lift = {} } }: Preset): string {
  const keys = Object.keys(lift).map(code);
  return keys.length === 0 ? '' : ` Lifted: ${keys.join(', ')}.`;
}

function code(word: string): string {
  return `\`${word}\``;
}

/** Outside of what is marked as code, `<` and `*` would be taken for marks. */
function literal(text: string): string {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/[<*]/g, '\\$&')))
    .join('`');
}
