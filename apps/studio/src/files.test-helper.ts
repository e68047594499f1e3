/**
 * Files for the tests of the page, which they make themselves.
 */
import { flatbuffer, type Table, withFiles } from "@nnhal/test-kit/packed-files";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";

const tensor = (name: string, more: Partial<TfliteTensor> = {}): TfliteTensor => ({
  name,
  shape: [1, 8],
  type: "FLOAT32",
  isVariable: false,
  ...more,
});

const operator = (name: string, inputs: readonly number[], outputs: readonly number[], options = {}) => ({
  name,
  version: 1,
  inputs,
  outputs,
  options,
});

/** A model with one subgraph. */
function modelOf(
  tensors: readonly TfliteTensor[],
  operators: TfliteModel["subgraphs"][number]["operators"],
  inputs: readonly number[],
  outputs: readonly number[],
  more: Partial<TfliteModel> = {},
): Uint8Array {
  return writeTflite({
    version: 3,
    description: "",
    subgraphs: [{ name: "main", tensors, operators, inputs, outputs }],
    metadata: [],
    signatures: [],
    ...more,
  });
}

/** A chain of so many additions and multiplications, in which every eighth also reads an earlier result. */
export function manyOperators(count: number, shape: readonly number[] = [1, 8]): Uint8Array {
  const tensors = Array.from({ length: count + 1 }, (_, index) =>
    tensor(`block_${index >> 3}/value_${index}`, { shape }),
  );
  const operators = Array.from({ length: count }, (_, index) => {
    const other = index % 8 === 7 ? index - 6 : index;
    return operator(index % 3 === 0 ? "MUL" : "ADD", [index, other], [index + 1], { fusedActivationFunction: "NONE" });
  });
  return modelOf(tensors, operators, [0], [count]);
}

/** A model whose texts are all one text: of tensors, the subgraph, a custom operator, a signature and the description. */
export function namedModel(text: string): Uint8Array {
  const tensors = [tensor(text), tensor(text), tensor(text)];
  const operators = [
    operator("ADD", [0, 0], [1], { fusedActivationFunction: "NONE" }),
    { ...operator("CUSTOM", [1], [2]), customCode: text },
  ];
  return writeTflite({
    version: 3,
    description: text,
    subgraphs: [{ name: text, tensors, operators, inputs: [0], outputs: [2] }],
    metadata: [],
    signatures: [{ key: text, subgraph: 0, inputs: [{ name: text, tensor: 0 }], outputs: [{ name: text, tensor: 2 }] }],
  });
}

/** A model whose texts are all of these: names of tensors, custom operators and signatures; and all together the description and the subgraph. */
export function manyNames(texts: readonly string[]): Uint8Array {
  const tensors = [tensor("in"), ...texts.map((text) => tensor(text))];
  const operators = texts.map((text, index) => ({
    ...operator("CUSTOM", [index], [index + 1]),
    customCode: text,
  }));
  const together = texts.join(" ");
  return writeTflite({
    version: 3,
    description: together,
    subgraphs: [{ name: together, tensors, operators, inputs: [0], outputs: [texts.length] }],
    metadata: [],
    signatures: texts.map((key, index) => ({
      key,
      subgraph: 0,
      inputs: [{ name: key, tensor: 0 }],
      outputs: [{ name: key, tensor: index + 1 }],
    })),
  });
}

/** An addition with a constant of 8 bits, whose two channels have scales of their own. */
export function quantizedModel(): Uint8Array {
  const data = Uint8Array.from(Int8Array.from([-4, -3, -2, -1, 0, 1, 2, 3]));
  const quantization = { scale: [0.5, 2], zeroPoint: [0, 0], quantizedDimension: 0 };
  const tensors = [
    tensor("in"),
    tensor("weights", { shape: [2, 4], type: "INT8", data, quantization }),
    tensor("out", { shape: [1, 2] }),
  ];
  const options = { fusedActivationFunction: "NONE", weightsFormat: "DEFAULT", keepNumDims: false };
  return modelOf(tensors, [operator("FULLY_CONNECTED", [0, 1, -1], [2], options)], [0], [2]);
}

/** A recurrent layer of two units, whose state it keeps. */
export function statefulModel(): Uint8Array {
  const constant = (name: string, shape: readonly number[], values: readonly number[]) =>
    tensor(name, { shape, data: new Uint8Array(Float32Array.from(values).buffer) });
  const tensors = [
    tensor("in", { shape: [1, 4] }),
    constant("weights", [2, 4], [0.1, 0.2, 0.3, 0.4, 0.4, 0.3, 0.2, 0.1]),
    constant("recurrent", [2, 2], [0.5, 0.25, 0.25, 0.5]),
    constant("bias", [2], [0, 0]),
    tensor("state", { shape: [1, 2], isVariable: true }),
    tensor("out", { shape: [1, 2] }),
  ];
  const options = { fusedActivationFunction: "TANH", asymmetricQuantizeInputs: false };
  return modelOf(tensors, [operator("RNN", [0, 1, 2, 3, 4], [5], options)], [0], [5]);
}

/** Sums the rows of good and bad words: its tokeniser cuts a text of any length. */
export function textModel(): Uint8Array {
  const table = [
    [0, 0],
    [0, 0],
    [0.25, 0.25],
    [0, 1],
    [1, 0],
  ];
  const bytes = (elements: Float32Array | Int32Array) => new Uint8Array(elements.buffer);
  const tensors = [
    tensor("ids", { type: "INT32", shape: [1, 1], shapeSignature: [1, -1] }),
    tensor("table", { shape: [table.length, 2], data: bytes(Float32Array.from(table.flat())) }),
    tensor("axis", { type: "INT32", shape: [1], data: bytes(Int32Array.of(1)) }),
    tensor("rows", { shape: [1, 1, 2], shapeSignature: [1, -1, 2] }),
    tensor("scores", { shape: [1, 2] }),
  ];
  const operators = [
    operator("GATHER", [1, 0], [3], { axis: 0, batchDims: 0 }),
    operator("SUM", [3, 2], [4], { keepDims: false }),
  ];
  const fileNamed = (name: string): Table => ({ fields: [name] });
  const words: Table = { fields: [{ byte: 6 }, { fields: ["[^\\w]+", [fileNamed("words.txt")]] }] };
  const input: Table = { fields: ["input_text", undefined, undefined, undefined, [words]] };
  const subgraph: Table = { fields: [undefined, undefined, [input], [{ fields: ["scores"] }]] };
  const described = flatbuffer({ fields: ["reviews", undefined, undefined, [subgraph]] }, "M001");
  const file = modelOf(tensors, operators, [0], [4], { metadata: [{ name: "TFLITE_METADATA", data: described }] });
  const vocabulary = "<PAD> 0\n<START> 1\n<UNKNOWN> 2\ngood 3\nbad 4\n";
  return withFiles(file, { "words.txt": new TextEncoder().encode(vocabulary) });
}

/** Twice its input, which has a number for each label. */
export function labelledModel(labels: readonly string[]): Uint8Array {
  const shape = [1, labels.length];
  const tensors = [tensor("x", { shape }), tensor("scores", { shape })];
  const operators = [operator("ADD", [0, 0], [1], { fusedActivationFunction: "NONE" })];
  const file: Table = { fields: ["labels.txt", undefined, { byte: 2 }] };
  const output: Table = { fields: ["scores", undefined, undefined, undefined, undefined, undefined, [file]] };
  const subgraph: Table = { fields: [undefined, undefined, [{ fields: ["x"] }], [output]] };
  const described = flatbuffer({ fields: ["labels", undefined, undefined, [subgraph]] }, "M001");
  const model = modelOf(tensors, operators, [0], [1], { metadata: [{ name: "TFLITE_METADATA", data: described }] });
  return withFiles(model, { "labels.txt": new TextEncoder().encode(labels.join("\n")) });
}

/** MediaPipe's custom operators: the greatest of each 2 by 2 elements stays, and others become 0. */
export function mediapipeModel(): Uint8Array {
  // Padding, strides, extents of the filter, and no activation.
  const customOptions = new Uint8Array(Int32Array.of(1, 2, 2, 2, 2, 0).buffer);
  const custom = (customCode: string, inputs: readonly number[], outputs: readonly number[]) => ({
    ...operator("CUSTOM", inputs, outputs),
    ...{ customCode, customOptions },
  });
  const tensors = [
    tensor("x", { shape: [1, 4, 4, 1] }),
    tensor("pooled", { shape: [1, 2, 2, 1] }),
    tensor("indices", { shape: [1, 2, 2, 1] }),
    tensor("y", { shape: [1, 4, 4, 1] }),
  ];
  const operators = [custom("MaxPoolingWithArgmax2D", [0], [1, 2]), custom("MaxUnpooling2D", [1, 2], [3])];
  return modelOf(tensors, operators, [0], [3]);
}

/** Two signatures, each with a subgraph of its own: one doubles, the other squares. */
export function signedModel(): Uint8Array {
  const tensors = [tensor("x"), tensor("y")];
  const options = { fusedActivationFunction: "NONE" };
  const subgraphs = ["ADD", "MUL"].map((name) => ({
    ...{ name, tensors, inputs: [0], outputs: [1] },
    operators: [operator(name, [0, 0], [1], options)],
  }));
  const signatures = ["double", "square"].map((key, subgraph) => ({
    ...{ key, subgraph },
    ...{ inputs: [{ name: "in", tensor: 0 }], outputs: [{ name: "out", tensor: 1 }] },
  }));
  return writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures });
}

/** Names that would do harm if the page took them for anything but text. */
export const hostileNames: readonly string[] = [
  "<script>globalThis.hacked = 1</script>",
  '<img src=x onerror="globalThis.hacked = 1">',
  '"><svg onload="globalThis.hacked = 1">',
  "javascript:globalThis.hacked=1",
  "<iframe srcdoc='<script>parent.hacked=1</script>'>",
  "</title><script>globalThis.hacked=1</script>",
  "</textarea><script>globalThis.hacked=1</script>",
  "<!--<script>globalThis.hacked=1//-->",
  "{{constructor.constructor('globalThis.hacked=1')()}}",
  ["$", "{globalThis.hacked = 1}"].join(""),
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "<base href='http://evil.example/'>",
  "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
  "<a href='javascript:globalThis.hacked=1'>x</a>",
  "<style>@import 'http://evil.example/x.css'</style>",
  "\u202Etxt.elbisivni",
  "a\u0000b\u001b[31mred",
  "&lt;b&gt;&#x3c;script&#x3e;",
  "x".repeat(20_000),
];
