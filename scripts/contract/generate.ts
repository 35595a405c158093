import { declaredSettings } from '../../src/platform/config/settings.js';
import { PRESETS } from '../../src/webhooks/presets/presets.js';
import type { Preset } from '../../src/webhooks/sources/webhook-source.entity.js';
import { writeOrCheck } from './generated-file.js';

/* Writes `.env.example` and `docs/webhook-presets.md`, or compares them with `--check`. */

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

\`npm run generate\` writes this page from \`src/webhooks/presets\`.
`;

const page = [HEAD, ...PRESETS.map(sectionOf)].join('\n');

writeOrCheck('docs/webhook-presets.md', page, 'npm run generate');
writeOrCheck('.env.example', renderEnvExample(), 'npm run generate');

function renderEnvExample(): string {
  const lines = [
    '# Every setting, with its default. Copy to .env, or set them in the environment.',
    '# An invalid value stops the start with one line that names the setting.',
  ];
  for (const setting of declaredSettings) {
    if (setting.heading) lines.push('', `## ${setting.heading}`);
    const comment = setting.description.replace(/(.{1,98})(?: |$)/g, '# $1\n');
    lines.push('', `${comment}${setting.variable}=${setting.parser.example}`);
  }
  return `${lines.join('\n')}\n`;
}

function sectionOf(preset: Preset): string {
  const { name, title, documentation, set_up, signature, incident_type = 'other' } = preset;
  const { severity_mapping = {}, type_mapping = {}, mapping } = preset;
  const severities = Object.entries(severity_mapping).map(([word, to]) => `${code(word)} ${to}`);
  const types = Object.entries(type_mapping).map(([word, to]) => `${code(word)} ${code(to)}`);
  const parts = [
    `## ${name}`,
    `${title}: ${literal(documentation)} Signature: ${code(signature)}. Usual type: ${code(incident_type)}.${list('Severities', severities)}${list('Types', types)}${list('Fields', Object.keys(mapping.lift ?? {}).map(code))}`,
    set_up.map((sentence, at) => `${at + 1}. ${literal(sentence)}`).join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function list(name: string, words: readonly string[]): string {
  return words.length === 0 ? '' : ` ${name}: ${words.join(', ')}.`;
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
