import { declaredSettings } from './setting.js';
import './settings.js';

const WIDTH = 100;

/** The text of `.env.example`, made from the declarations so that the two cannot differ. */
export function renderEnvExample(): string {
  const lines = [
    '# Every setting, with its default. Copy to .env, or set them in the environment.',
    '# A wrong value stops the start with one line that names the setting.',
  ];
  let section = '';
  for (const setting of declaredSettings()) {
    if (setting.section !== section) {
      section = setting.section;
      lines.push('', `## ${section}`);
    }
    lines.push('', ...wrap(setting.description), `${setting.variable}=${setting.parser.example}`);
  }
  return `${lines.join('\n')}\n`;
}

function wrap(description: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of description.split(' ')) {
    if (line.length + word.length + 1 > WIDTH) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
