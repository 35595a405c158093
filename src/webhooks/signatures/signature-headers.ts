/** The headers of a request by their names in small letters. */
export type SignatureHeaders = ReadonlyMap<string, string>;

/**
 * Reads them as they were sent. Node would join headers of one name with a comma, or take the first: a proxy in front
 * may have judged another. One that was given twice is empty here, which no scheme takes for valid.
 */
export function signatureHeaders(rawHeaders: readonly string[]): SignatureHeaders {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    headers.set(name, headers.has(name) ? '' : rawHeaders[index + 1]!);
  }
  return headers;
}
