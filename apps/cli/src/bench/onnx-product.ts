/**
 * The smallest ONNX models that keep a processor busy: one product of matrices whose second one is a constant.
 */

/** Element types by their ONNX codes. */
const types = {
  float: { code: 1, bytes: 4 },
  uint8: { code: 2, bytes: 1 },
  int8: { code: 3, bytes: 1 },
  int32: { code: 6 },
};

/** A field with a whole number. */
const number = (field: number, value: number): number[] => [...leb(field << 3), ...leb(value)];
/** Bytes before the content of a field with bytes. */
const head = (field: number, length: number): number[] => [...leb((field << 3) | 2), ...leb(length)];
/** A field with bytes: a text, or a message. */
const bytes = (field: number, content: readonly number[]): number[] => [...head(field, content.length), ...content];
const text = (field: number, value: string) => bytes(field, [...new TextEncoder().encode(value)]);

function leb(value: number): number[] {
  const rest = Math.floor(value / 128);
  return rest === 0 ? [value] : [(value % 128) | 0x80, ...leb(rest)];
}

/** An input or output: its name, element type and square shape. */
function value(field: number, name: string, code: number, size: number): number[] {
  const extent = bytes(1, number(1, size));
  const tensor = [...number(1, code), ...bytes(2, [...extent, ...extent])];
  return bytes(field, [...text(1, name), ...bytes(2, bytes(1, tensor))]);
}

/** A model that multiplies a square matrix of an extent, called `a`, by a constant one: floats, or uint8 by int8 with sums of 32 bits. */
export function matrixProduct(arithmetic: "float" | "integer", size: number): Uint8Array {
  const isFloat = arithmetic === "float";
  const [left, right, result] = isFloat
    ? ([types.float, types.float, types.float] as const)
    : ([types.uint8, types.int8, types.int32] as const);
  const ones = isFloat ? [0, 0, 0x80, 0x3f] : [1];
  // A matrix has many bytes: they are written once, to where they belong.
  const rawSize = size * size * right.bytes;
  const node = [...text(1, "a"), ...text(1, "b"), ...text(2, "c"), ...text(4, isFloat ? "MatMul" : "MatMulInteger")];
  const constant = [
    ...number(1, size),
    ...number(1, size),
    ...number(2, right.code),
    ...text(8, "b"),
    ...head(9, rawSize),
  ];
  const before = [...bytes(1, node), ...text(2, "product"), ...head(5, constant.length + rawSize), ...constant];
  const after = [...value(11, "a", left.code, size), ...value(12, "c", result.code, size)];
  // The version of the format, the graph, and the version of the operators.
  const start = [...number(1, 8), ...head(7, before.length + rawSize + after.length), ...before];
  const end = [...after, ...bytes(8, [...text(1, ""), ...number(2, 17)])];
  const model = new Uint8Array(start.length + rawSize + end.length);
  model.set(start);
  const raw = model.subarray(start.length, start.length + rawSize);
  raw.set(ones);
  for (let filled = ones.length; filled < rawSize; filled *= 2) raw.copyWithin(filled, 0, filled);
  model.set(end, start.length + rawSize);
  return model;
}
