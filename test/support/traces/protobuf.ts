/** The fields of one message of protobuf by their numbers, as they are on the wire. */
export type Fields = ReadonlyMap<number, readonly Field[]>;
type Field = Buffer | bigint;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Reads the wire format (https://protobuf.dev/programming-guides/encoding/); throws on what is none. */
export function readMessage(bytes: Buffer): Fields {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('The message is cut off.');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readers: Readonly<Record<number, () => Field>> = {
    [VARINT]: varint,
    [FIXED_64]: () => take(8),
    [BYTES]: () => take(Number(varint())),
    [FIXED_32]: () => take(4),
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const read = readers[tag & 7];
    if (!read) throw new RangeError(`There is no wire type ${tag & 7}.`);
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), read()]);
  }
  return fields;
}

export function messagesIn(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((field) => readMessage(field as Buffer));
}

export function textIn(fields: Fields, number: number): string {
  return (fields.get(number)?.[0] as Buffer | undefined)?.toString('utf8') ?? '';
}

export function hexIn(fields: Fields, number: number): string {
  return (fields.get(number)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
}

export function numberIn(fields: Fields, number: number): number {
  return Number(fields.get(number)?.[0] ?? 0n);
}
