import { declaredSettings } from '../../src/platform/config/settings.js';
import { writeOrCheck } from './generated-file.js';

/* Writes `.env.example`, or compares it with `--check`. */

writeOrCheck('.env.example', renderEnvExample(), 'npm run env-example');

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
