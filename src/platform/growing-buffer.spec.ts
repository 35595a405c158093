import { GrowingBuffer } from './growing-buffer.js';

function growing(most = Infinity) {
  const reserved: number[] = [];
  const buffer = new GrowingBuffer(most, (bytes) => {
    reserved.push(bytes);
    return bytes <= 20_000;
  });
  return { reserved, buffer };
}

describe('GrowingBuffer', () => {
  it('joins chunks, and doubles its size when full', () => {
    const { buffer, reserved } = growing();
    const texts = ['ab', 'c'.repeat(5_000), 'd'.repeat(4_000), ''];
    for (const text of texts) expect(buffer.append(Buffer.from(text))).toBe(true);
    expect(buffer.content.toString()).toBe(texts.join(''));
    expect(reserved).toEqual([4_096, 8_192, 16_384]);
  });

  it('reserves at most the announced length', () => {
    const { buffer, reserved } = growing(6_000);
    for (const length of [100, 5_000, 900]) buffer.append(Buffer.alloc(length));
    expect(reserved).toEqual([4_096, 6_000]);
  });

  it('rejects a chunk if no memory is left', () => {
    const { buffer } = growing();
    buffer.append(Buffer.from('abc'));
    expect(buffer.append(Buffer.alloc(20_000))).toBe(false);
    expect(buffer.content.toString()).toBe('abc');
  });
});
