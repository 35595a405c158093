import { guideNamed, guideNames, htmlOf } from './guides.js';

describe('the guides', () => {
  it.each(guideNames())('renders %s without a script or an unknown element', (name) => {
    const html = guideNamed(name)!.bytes.toString();
    const tags = new Set([...html.matchAll(/<\/?(\w+)/g)].map(([, tag]) => tag));
    expect(tags).not.toContain('script');
    expect(html).toContain('<h1 id=');
  });

  it('leads to no file outside its folder', () => {
    expect(guideNamed('../README')).toBeUndefined();
    expect(guideNamed('adr/0001-toolchain')).toBeUndefined();
    expect(guideNamed('constructor')).toBeUndefined();
  });

  it('escapes HTML in text, code, tables and links', () => {
    const mean = '<img src=x onerror=alert(1)>';
    const html = htmlOf(
      `# ${mean}\n\n${mean} \`${mean}\`\n\n- ${mean}\n\n| a |\n|---|\n| ${mean} |\n\n[${mean}](https://x.example/"onclick="y)\n\n\`\`\`\n${mean}\n\`\`\`\n`,
    );
    expect(html).not.toMatch(/<img|"onclick/);
    expect(html.match(/&lt;img/g)).toHaveLength(7);
  });

  it.each([
    [
      '[Mapping](webhooks.md#mapping)',
      '<p><a href="/docs/guides/webhooks#mapping">Mapping</a></p>',
    ],
    ['[ADR](adr/0001-toolchain.md)', '<p>ADR</p>'],
    ['[x](javascript:alert(1))', '<p>x)</p>'],
    ['1. one\n2. two\n   more', '<ol><li>one</li><li>two more</li></ol>'],
    ['## First key', '<h2 id="first-key">First key</h2>'],
    ['a **b** `**c**`', '<p>a <strong>b</strong> <code>**c**</code></p>'],
    ['**`a`:** b', '<p><strong><code>a</code>:</strong> b</p>'],
    ['[`a`](api.md)', '<p><a href="/docs/guides/api"><code>a</code></a></p>'],
  ])('renders %j', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(html);
  });
});
