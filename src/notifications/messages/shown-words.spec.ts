import { shownWords } from './shown-words.js';

const shown = (value: string) =>
  shownWords({ words: { headline: '', facts: [{ name: 'Title', value }] } }).facts[0]!.value;

describe('the words of a message', () => {
  it.each([
    ['an address', 'see https://evil.example/a?b', 'see hxxps://evil[.]example/a?b'],
    ['a domain', 'log in at evil.example now', 'log in at evil[.]example now'],
    ['an address of a mailbox', 'mallory@evil.example', 'mallory[@]evil[.]example'],
    ['an IP address', 'from 192.0.2.7.', 'from 192[.]0[.]2[.]7.'],
    ['another scheme', 'file://server/share', 'file[://]server/share'],
    ['a share of Windows', String.raw`\\server\share`, String.raw`\[\]server\share`],
    ['a domain with what nobody sees in it', 'evil\u200b.exa\u00admple', 'evil[.]example'],
    ['writing that turns', 'a\u202egpj.exe', 'agpj.exe'],
    ['lines', 'one\r\ntwo\u2028three\tfour', 'one two three four'],
    ['NUL and half a pair', 'a\0b\ud800', 'a b\ufffd'],
    ['nothing', '\u200b\u2060', '(nothing that can be shown)'],
  ])('show %s without harm', (_, given, expected) => expect(shown(given)).toBe(expected));

  it('are bounded, also when they are huge', () => {
    expect(shown('x'.repeat(1_000_000))).toBe(`${'x'.repeat(299)}…`);
    expect(shown('a.'.repeat(500_000)).length).toBeLessThan(700);
  });

  it('keep the link of the service', () => {
    const url = 'https://triage.example.com/docs?incident=1';
    expect(shownWords({ words: { headline: 'a', facts: [], url } }).url).toBe(url);
  });

  it('tell severity, event and subject in the headline', () => {
    const words = {
      headline: 'New incident: INC-2026-0042',
      about: 'Log in at evil.example',
      facts: [],
    };
    expect(shownWords({ severity: 'high', words }).headline).toBe(
      '[high] New incident: INC-2026-0042 - Log in at evil[.]example',
    );
    expect(shownWords({ words: { headline: 'A test', facts: [] } }).headline).toBe('A test');
  });
});
