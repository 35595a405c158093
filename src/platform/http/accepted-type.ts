/**
 * Whether the caller would rather have a page than JSON, by its Accept (RFC 9110): browsers name `text/html` and take all
 * else as second best, programs name JSON or take anything.
 */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').toLowerCase().split(',').map(readRange);
  const quality = (...names: readonly string[]): number =>
    names
      .map((name) => ranges.find((range) => range.name === name)?.quality)
      .find((known) => known !== undefined) ?? 0;
  const html = quality('text/html', 'text/*', '*/*');
  return html > quality('application/json', 'application/*', '*/*');
}

function readRange(range: string): { readonly name: string; readonly quality: number } {
  const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return { name, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
}
