/** Bodies in pieces, from a stream that stands for a request. */
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createCollector, readBody, unpack } from "./body.ts";
import type { RequestError } from "./errors.ts";

function requestOf(length?: number) {
  const stream = new PassThrough();
  const headers = length === undefined ? {} : { "content-length": String(length) };
  // Only its stream and its headers are read.
  return { stream, message: Object.assign(stream, { headers }) as unknown as IncomingMessage };
}

const mebibyte = 2 ** 20;
const whole = Buffer.alloc(3 * mebibyte);
for (let index = 0; index < whole.length; index++) whole[index] = index % 251;

it.each([
  ["of known length", 3 * mebibyte],
  ["of unknown length", undefined],
])("joins the pieces of a body %s, aligned after the JSON, in memory of its own", async (_, length) => {
  const { stream, message } = requestOf(length);
  const reading = readBody(message, { limit: 4 * mebibyte, before: 13 });
  for (let from = 0; from < whole.length; from += 100_000) stream.write(whole.subarray(from, from + 100_000));
  stream.end();
  const body = await reading;
  expect(whole.equals(body)).toBe(true);
  expect((body.byteOffset + 13) % 8).toBe(0);
  expect(body.buffer).not.toBe(Buffer.from("x").buffer);
});

it("takes a body of the limit, and refuses one byte more", async () => {
  const limited = async (size: number, length?: number) => {
    const { stream, message } = requestOf(length);
    const reading = readBody(message, { limit: 100 }).then(({ length: read }) => read);
    stream.end(Buffer.alloc(size));
    return reading;
  };
  expect([await limited(100), await limited(100, 100)]).toEqual([100, 100]);
  await expect(limited(101)).rejects.toMatchObject({ kind: "tooLarge" });
  await expect(limited(101, 101)).rejects.toMatchObject({ kind: "tooLarge" });
});

it("a client that has gone is not waited for", async () => {
  const { stream, message } = requestOf(100);
  const reading = readBody(message, { limit: 100 });
  stream.write(Buffer.alloc(60));
  setImmediate(() => stream.destroy());
  await expect(reading).rejects.toMatchObject({
    kind: "cancelled",
    message: expect.stringContaining("after 60 bytes"),
  });
  await expect(readBody(message, { limit: 100 })).rejects.toMatchObject({ kind: "cancelled" });
});

it("what is given up leaves no memory for the collector of garbage", () => {
  const piece = Buffer.alloc(mebibyte);
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 8; count++) {
    const collector = createCollector({ limit: 32 * mebibyte });
    for (let pieces = 0; pieces < 32; pieces++) collector.add(piece);
    expect(() => collector.add(Buffer.alloc(1))).toThrow("larger than the 33554432 bytes");
    collector.drop();
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * mebibyte);
});

it("holds what it has, and in the end no more than the body", () => {
  const held: number[] = [];
  const collector = createCollector({ limit: 100, before: 3, hold: (bytes) => held.push(bytes) });
  for (let count = 0; count < 7; count++) collector.add(Buffer.alloc(10));
  expect([...held]).toEqual([20, 60, 100]);
  expect(collector.take()).toHaveLength(70);
  // Five of its bytes lie before the first element.
  expect(held.at(-1)).toBe(75);
});

it("compressed ones are unpacked one after the other, also after one that is refused", async () => {
  const packed = gzipSync(Buffer.alloc(200_000, 7));
  const order: string[] = [];
  const one = (name: string, limit: number) =>
    unpack(packed, "gzip", { limit, hold: () => order.push(name) }).then(
      (body) => order.push(`${name}: ${body.length}`),
      (error: RequestError) => order.push(`${name}: ${error.kind}`),
    );
  await Promise.all([one("a", 300_000), one("b", 100_000), one("c", 300_000)]);
  expect(order.filter((each, place) => each !== order[place - 1])).toEqual([
    ...["a", "a: 200000", "b", "b: tooLarge", "c", "c: 200000"],
  ]);
});
