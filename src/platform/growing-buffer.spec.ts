import { GrowingBuffer, type GrowingBufferOptions } from './growing-buffer.js';

function growing(options: Partial<GrowingBufferOptions> = {}) {
  const reserved: number[] = [];
  const reserve = (bytes: number): boolean => {
    reserved.push(bytes);
    return bytes <= 1_000;
  };
  return { reserved, buffer: new GrowingBuffer({ firstBytes: 4, reserve, ...options }) };
}

describe('GrowingBuffer', () => {
  it('joins chunks, and doubles its size when full', () => {
    const { buffer, reserved } = growing();
    for (const text of ['ab', 'cd', 'e', 'fghijkl', '']) {
      expect(buffer.append(Buffer.from(text))).toBe(true);
    }
    expect(buffer.content.toString()).toBe('abcdefghijkl');
    expect(buffer.length).toBe(12);
    expect(reserved).toEqual([4, 8, 16]);
  });

  it('reserves at most the announced length until more arrives', () => {
    const { buffer, reserved } = growing({ announcedBytes: 6 });
    for (const text of ['abc', 'def', 'g']) buffer.append(Buffer.from(text));
    expect(reserved).toEqual([4, 6, 7]);
  });

  it('rejects a chunk without memory', () => {
    const { buffer } = growing();
    buffer.append(Buffer.from('abc'));
    expect(buffer.append(Buffer.alloc(2_000))).toBe(false);
    expect(buffer.content.toString()).toBe('abc');
  });

  it('copies its content, unless it may keep the only chunk of an announced length', () => {
    const chunk = Buffer.from('abcdef');
    const [copied, kept] = [{}, { announcedBytes: 6, keepsOnlyChunk: true }].map((options) => {
      const { buffer } = growing(options);
      buffer.append(chunk);
      return buffer;
    });
    chunk[0] = 'x'.charCodeAt(0);
    expect(copied!.content.toString()).toBe('abcdef');
    expect(kept!.content.toString()).toBe('xbcdef');
  });

  it('is empty after clear', () => {
    const { buffer } = growing();
    buffer.append(Buffer.from('abc'));
    buffer.clear();
    expect(buffer.content.toString()).toBe('');
  });
});
