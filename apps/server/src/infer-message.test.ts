/** Messages written byte by byte; those of a client made from the definition are in grpc.test.ts and identical.test.ts. */
import { expect, test } from "vitest";
import { readInferMessage } from "./infer-message.ts";
import { mostMembers, mostMessages } from "./protobuf.ts";

const field = (number: number, bytes: Uint8Array | string) => {
  const content = Buffer.from(bytes);
  const length = [];
  for (let left = content.length; ; left >>>= 7) {
    if (left < 128) {
      length.push(left);
      break;
    }
    length.push((left & 127) | 128);
  }
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), content]);
};
const tooLarge = expect.objectContaining({ kind: "tooLarge" });
const invalid = expect.objectContaining({ kind: "invalid" });

test("lists that are packed and not, in parts, are one list", () => {
  const contents = Buffer.concat([
    field(2, Buffer.from([1, 0x80, 1])),
    Buffer.from([2 * 8, 5]),
    Buffer.from([2 * 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
  ]);
  const input = Buffer.concat([field(1, "a"), field(2, "INT32"), field(3, Buffer.from([4])), field(5, contents)]);
  const [read] = readInferMessage(Buffer.concat([field(1, "model"), field(5, input)])).inputs;
  expect(read).toMatchObject({ name: "a", datatype: "INT32", shape: [4] });
  expect(read?.contents.get("int_contents")).toEqual(Int32Array.of(1, 128, 5, -1));
});

test("numbers of 64 bits, and parameters of each kind", () => {
  const most = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
  const parameter = (name: string, value: Buffer) => field(4, Buffer.concat([field(1, name), field(2, value)]));
  const double = Buffer.alloc(9, 0);
  double[0] = 4 * 8 + 1;
  double.writeDoubleLE(1.5, 1);
  const message = Buffer.concat([
    parameter("bool", Buffer.from([8, 1])),
    parameter("int", Buffer.concat([Buffer.from([16]), Buffer.alloc(9, 0xff), Buffer.from([1])])),
    parameter("text", field(3, "é")),
    parameter("double", double),
    field(5, field(5, field(3, most))),
  ]);
  const { parameters, inputs } = readInferMessage(message);
  expect(parameters).toEqual({ bool: true, int: -1, text: "é", double: 1.5 });
  expect(inputs[0]?.contents.get("int64_contents")).toEqual(BigInt64Array.of(2n ** 63n - 1n));
});

test("messages and members are bounded, however small they are", () => {
  const empty = (count: number, number: number) => Buffer.alloc(2 * count, Buffer.from([number * 8 + 2, 0]));
  expect(readInferMessage(empty(mostMessages - 1, 5)).inputs).toHaveLength(mostMessages - 1);
  for (const number of [5, 6]) expect(() => readInferMessage(empty(mostMessages, number))).toThrow(tooLarge);
  expect(readInferMessage(empty(mostMembers, 7)).raw).toHaveLength(mostMembers);
  expect(() => readInferMessage(empty(mostMembers + 1, 7))).toThrow(tooLarge);
  expect(() => readInferMessage(field(5, field(5, empty(mostMembers, 8))))).toThrow(tooLarge);
});

test("a message that is cut at any byte is refused, or is shorter", () => {
  const input = Buffer.concat([
    field(1, "left"),
    field(3, Buffer.from([0x80, 1])),
    field(5, field(6, Buffer.alloc(8))),
  ]);
  const whole = Buffer.concat([field(1, "model"), field(5, input), field(7, Buffer.alloc(200))]);
  const ends = [0, field(1, "model").length, field(1, "model").length + field(5, input).length];
  for (let length = 0; length < whole.length; length++) {
    const read = () => readInferMessage(whole.subarray(0, length));
    if (ends.includes(length)) expect(read).not.toThrow();
    else expect(read).toThrow(invalid);
  }
});
