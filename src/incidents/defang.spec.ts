import { defang, refang } from './defang.js';

describe('defang', () => {
  it.each([
    ['Go to https://evil.example/a.php?b=1 now.', 'Go to hxxps://evil[.]example/a.php?b=1 now.'],
    ['HTTP://EVIL.EXAMPLE', 'hxxp://EVIL[.]EXAMPLE'],
    ['ftp://files.evil.example', 'fxp://files[.]evil[.]example'],
    ['mallory@evil.example wrote', 'mallory[@]evil[.]example wrote'],
    ['at evil.example.', 'at evil[.]example.'],
    ['from 198.51.100.7:443', 'from 198[.]51[.]100[.]7:443'],
    ['http://evil。example', 'hxxp://evil[.]example'],
    ['пример.рф', 'пример[.]рф'],
    ['evil.भारत', 'evil[.]भारत'],
    ['evil.com_ and evil.com-, evil.com-x', 'evil[.]com_ and evil[.]com-, evil[.]com-x'],
    ['evil.xn--p1ai_', 'evil[.]xn--p1ai_'],
    ['evil\u2024example', 'evil[.]example'],
    ['evil\uff0eexample', 'evil[.]example'],
    ['evil\uff61example', 'evil[.]example'],
    ['evil\u30fbexample', 'evil[.]example'],
    ['evil\uff65example', 'evil[.]example'],
    ['i❤️.ws and 💩.example', 'i❤️[.]ws and 💩[.]example'],
    ['a.💩.example', 'a[.]💩[.]example'],
    ['evil.example\u00a0https://other.example', 'evil[.]example\u00a0hxxps://other[.]example'],
    ['www.evil.com1', 'www[.]evil[.]com1'],
  ])('defangs %j', (text, safe) => {
    expect(defang(text)).toBe(safe);
    expect(defang(safe)).toBe(safe);
  });

  it.each([
    'The files invoice.pdf and invoice.pdf_ were opened.',
    'Version 10.0.19045 of T1566.001, 3.5 times, e.g. this one.',
    'Mr. Smith ... and so on',
    '@channel',
    'Failed logins of b.okafor and c.lind.',
    '',
  ])('leaves %j unchanged', (text) => {
    expect(defang(text)).toBe(text);
  });

  it('is reversed by refang', () => {
    const text = 'https://evil.example/x mallory@evil.example 198.51.100.7';
    expect(refang(defang(text))).toBe(text);
  });
});

describe('refang', () => {
  it.each([
    ['hxxps[://]evil[.]example', 'https://evil.example'],
    ['hXXp://evil(.)example', 'http://evil.example'],
    ['mallory[at]evil(dot)example', 'mallory@evil.example'],
    ['evil{.}example[:]8080', 'evil.example:8080'],
    ['fxp://evil[dot]example', 'ftp://evil.example'],
  ])('reads %j as %j', (text, plain) => {
    expect(refang(text)).toBe(plain);
  });
});
