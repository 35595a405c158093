import { prefersHtml } from './docs.controller.js';

describe('prefersHtml', () => {
  it.each([
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html, application/xhtml+xml, image/jxr, */*;q=0.1',
    'TEXT/HTML',
    'text/html;level=1;q=0.3, */*;q=0.2',
  ])('is true for the Accept header %s of a browser', (accept) => {
    expect(prefersHtml(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html',
    'text/html;q=0.9, application/json',
    'image/png',
    ';;;,,q=1,/',
  ])('is false for the Accept header %s of a program', (accept) => {
    expect(prefersHtml(accept)).toBe(false);
  });
});
