import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLOURS, DARK_COLOURS, escapeHtml, PRODUCT, SIGN } from '../http/page-look.js';
import { StaticFile } from '../http/answer-transport.js';
import { assetAddress } from './docs-assets.js';

const FOLDER = join(__dirname, '../../../docs');

const pages = new Map<string, StaticFile>();

/** The guide as a page; undefined if there is no such guide. Only names of files in the folder lead to a file. */
export function guideNamed(name: string): StaticFile | undefined {
  const known = pages.get(name);
  if (known || !guideNames().includes(name)) return known;
  const markdown = readFileSync(join(FOLDER, `${name}.md`), 'utf8');
  const page = new StaticFile('text/html; charset=utf-8', Buffer.from(pageOf(markdown)));
  pages.set(name, page);
  return page;
}

export function guideNames(): string[] {
  if (!existsSync(FOLDER)) return [];
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length));
}

let index: StaticFile | undefined;

/** A page with the title and the first sentences of each guide. */
export function guideIndex(): StaticFile {
  return (index ??= new StaticFile('text/html; charset=utf-8', Buffer.from(pageOf(indexText()))));
}

function indexText(): string {
  const entries = guideNames().map((name) => {
    const [, title, first] =
      /^# (.+)\n\s*([^#\s][^\n]*)/.exec(readFileSync(join(FOLDER, `${name}.md`), 'utf8')) ?? [];
    return `- [${title ?? name}](${name}.md): ${first ?? ''}`;
  });
  return `# Guides\n\n${entries.join('\n')}\n`;
}

function pageOf(markdown: string): string {
  const [, title = ''] = /^# (.+)$/m.exec(markdown) ?? [];
  const links = guideNames().map((name) => `<a href="/docs/guides/${name}">${name}</a>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)} - ${PRODUCT}</title>
    <link rel="icon" type="image/svg+xml" href="/favicon.ico">
    <link rel="stylesheet" href="${assetAddress('page.css')}">
    <style>${COLOURS}${DARK_COLOURS}</style>
  </head>
  <body>
    <header class="its-bar"><h1>${SIGN}${PRODUCT}</h1><a href="/docs">API</a></header>
    <nav class="its-guides" aria-label="Guides">${links.join(' · ')}</nav>
    <main class="its-guide">
${htmlOf(markdown)}
    </main>
  </body>
</html>
`;
}

const FENCE = /^\s*```/;
const ITEM = /^(\s*)(?:[-*]|\d+\.) +/;
const HEADING = /^(#{1,4}) (.+)$/;
const ROW = /^\s*\|(.+)\|\s*$/;
const STARTS_BLOCK = [FENCE, ITEM, HEADING, ROW];

/** The Markdown that the guides use: headings, paragraphs, lists, tables and code. Everything else is text. */
export function htmlOf(markdown: string): string {
  const lines = markdown.split('\n');
  const blocks: string[] = [];
  /** Takes the lines from here as long as they fit. */
  const takeWhile = (fits: (line: string) => boolean): string[] => {
    const end = lines.findIndex((line) => !fits(line));
    return lines.splice(0, end < 0 ? lines.length : end);
  };
  while (lines.length > 0) {
    const line = lines[0]!;
    const [, level, heading] = HEADING.exec(line) ?? [];
    if (FENCE.test(line)) {
      lines.shift();
      const code = takeWhile((one) => !FENCE.test(one)).join('\n');
      lines.shift();
      blocks.push(`<pre><code>${escapeHtml(code)}</code></pre>`);
    } else if (level && heading) {
      lines.shift();
      blocks.push(
        `<h${level.length} id="${anchorOf(heading)}">${inline(heading)}</h${level.length}>`,
      );
    } else if (ROW.test(line)) {
      blocks.push(tableOf(takeWhile((one) => ROW.test(one))));
    } else if (ITEM.test(line)) {
      blocks.push(listOf(takeWhile((one) => ITEM.test(one) || /^\s+\S/.test(one))));
    } else if (line.trim() === '') {
      lines.shift();
    } else {
      const first = lines.shift()!;
      const rest = takeWhile(
        (one) => one.trim() !== '' && !STARTS_BLOCK.some((start) => start.test(one)),
      );
      blocks.push(`<p>${inline([first, ...rest].join(' '))}</p>`);
    }
  }
  return blocks.join('\n');
}

function listOf(lines: readonly string[]): string {
  const items: string[] = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  const tag = /^\s*\d/.test(lines[0]!) ? 'ol' : 'ul';
  return `<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</${tag}>`;
}

function tableOf(lines: readonly string[]): string {
  const [head = [], , ...rows] = lines.map((line) =>
    ROW.exec(line)![1]!
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim().replaceAll('\\|', '|'))),
  );
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`;
}

/** Code, bold text and links. The text is escaped first, so that only these become elements. */
function inline(text: string): string {
  const codes: string[] = [];
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, (_, code: string) => `\0${codes.push(code) - 1}\0`)
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, target: string) =>
      linkTo(words, target),
    )
    .replace(/\0(\d+)\0/g, (_, index: string) => `<code>${codes[Number(index)]}</code>`);
}

/** Links to guides, to their sections and to other sites. A file of the source is not served: its link is text. */
function linkTo(words: string, target: string): string {
  const [, guide, section = ''] = /^(?:\.\/)?([\w-]+)\.md(#[\w-]*)?$/.exec(target) ?? [];
  const address =
    guide && guideNames().includes(guide) ? `/docs/guides/${guide}${section}` : target;
  return /^(https:\/\/|#|\/docs\/)/.test(address) ? `<a href="${address}">${words}</a>` : words;
}

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
