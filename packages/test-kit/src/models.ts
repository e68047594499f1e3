/**
 * Valid models to which most rules apply, and functions that break one rule in a copy.
 */
import { type Operation as Definition, type ExtensionDefinition, splitExtensionCode } from "@nnhal/operations";
import { defineExtension } from "@nnhal/operations/authoring";
import {
  type ExtensionNameAndPrefix,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";

/** An operand: a TENSOR_FLOAT32 [2] that is a temporary of the subgraph, except for the facts given. */
export function operand(facts: Partial<Operand> = {}): Operand {
  return {
    type: OperandType.TENSOR_FLOAT32,
    dimensions: [2],
    numberOfConsumers: 0,
    scale: 0,
    zeroPoint: 0,
    lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" },
    ...facts,
  };
}

/** A constant in operandValues. */
export function constant(type: keyof typeof OperandType, offset: number, length: number, facts: Partial<Operand> = {}) {
  return operand({
    type: OperandType[type],
    dimensions: [],
    lifetime: OperandLifeTime.CONSTANT_COPY,
    location: { poolIndex: 0, offset, length },
    ...facts,
  });
}

/** A reference to a subgraph. */
export function reference(offset: number, numberOfConsumers = 1): Operand {
  return operand({
    type: OperandType.SUBGRAPH,
    dimensions: [],
    lifetime: OperandLifeTime.SUBGRAPH,
    location: { poolIndex: 0, offset, length: 0 },
    numberOfConsumers,
  });
}

/**
 * A subgraph whose inputs and outputs follow from the lifetimes, and whose numbers of consumers follow from the operations,
 * except those of operands that state their own.
 */
export function subgraphOf(operands: readonly Operand[], operations: readonly Operation[]): Subgraph {
  const read = operations.flatMap(({ inputs }) => inputs);
  const counted = operands.map((one, index) => ({
    ...one,
    numberOfConsumers: one.numberOfConsumers || read.filter((other) => other === index).length,
  }));
  const indexesOf = (lifetime: number) => operands.flatMap((one, index) => (one.lifetime === lifetime ? [index] : []));
  return {
    operands: counted,
    operations,
    inputIndexes: indexesOf(OperandLifeTime.SUBGRAPH_INPUT),
    outputIndexes: indexesOf(OperandLifeTime.SUBGRAPH_OUTPUT),
  };
}

/** The name of the extension with a prefix in models of `modelOf`. */
export function extensionName(prefix: number): string {
  return `com.example.extension${prefix}`;
}

/** Knowledge of an extension with some operations, whose codes are those in models of `modelOf`: of prefix 1. */
export function describeExtension(...operations: readonly Definition[]): {
  readonly extensions: readonly ExtensionDefinition[];
} {
  const own = operations.map((each) => ({ ...each, code: splitExtensionCode(each.code).code }));
  return { extensions: [defineExtension({ name: extensionName(1), operations: own })] };
}

/** A model without constants. Extensions whose codes its main subgraph uses have the names of `extensionName`. */
export function modelOf(main: Subgraph, more: Partial<Model> = {}): Model {
  return {
    main,
    referenced: [],
    operandValues: new Uint8Array(0),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: prefixesOf(main),
    ...more,
  };
}

/** A model with entries for the extensions whose codes its main subgraph uses. */
export function withExtensions(model: Model): Model {
  return { ...model, extensionNameToPrefix: prefixesOf(model.main) };
}

function prefixesOf({ operands, operations }: Subgraph): ExtensionNameAndPrefix[] {
  const prefixes = [...operands, ...operations].map(({ type }) => splitExtensionCode(type).prefix);
  const used = [...new Set(prefixes)].filter((prefix) => Number.isInteger(prefix) && prefix > 0 && prefix <= 0xffff);
  return used.map((prefix) => ({ name: extensionName(prefix), prefix }));
}

export const input = { lifetime: OperandLifeTime.SUBGRAPH_INPUT } as const;
export const output = { lifetime: OperandLifeTime.SUBGRAPH_OUTPUT } as const;
export const omitted = { lifetime: OperandLifeTime.NO_VALUE } as const;

export function operation(type: keyof typeof OperationType, inputs: number[], outputs: number[]): Operation {
  return { type: OperationType[type], inputs, outputs };
}

/** FLOOR twice: the smallest model with a temporary. Valid since HAL 1.0. */
export function floorModel(facts: Partial<Operand> = {}): Model {
  return modelOf(
    subgraphOf(
      [operand({ ...facts, ...input }), operand(facts), operand({ ...facts, ...output })],
      [operation("FLOOR", [0], [1]), operation("FLOOR", [1], [2])],
    ),
  );
}

/** left + right, elementwise, of float32 tensors of some extents, with the constant activation NONE. Valid since HAL 1.0. */
export function addModel(dimensions: readonly number[]): Model {
  return modelOf(
    subgraphOf(
      [operand({ dimensions, ...input }), operand({ dimensions, ...input }), zero, operand({ dimensions, ...output })],
      [operation("ADD", [0, 1, 2], [3])],
    ),
    { operandValues: new Uint8Array(4) },
  );
}

const values = new Uint8Array(48);
const view = new DataView(values.buffer);
view.setInt32(0, 0, true);
view.setInt32(4, 1, true);
view.setFloat32(8, 1, true);

/** Places in `values`: the INT32 0 and 1, the FLOAT32 1, and a bias of three TENSOR_INT32. */
const zero = constant("INT32", 0, 4);
const one = constant("INT32", 4, 4);
const unit = constant("FLOAT32", 8, 4);
const bias = constant("TENSOR_INT32", 12, 12, { dimensions: [3] });

const image = { type: OperandType.TENSOR_QUANT8_ASYMM, dimensions: [1, 4, 4, 3], scale: 0.5, zeroPoint: 128 };

/** The softmax of an image: the branches of the control model. */
const branch = subgraphOf(
  [operand({ ...image, ...input }), unit, operand({ ...image, scale: 1 / 256, zeroPoint: 0, ...output })],
  [operation("SOFTMAX", [0, 1], [2])],
);

/**
 * The control model, valid at HAL 1.3. Main: a convolution with a filter per channel from a pool, then an IF whose
 * branches are softmaxes. Operands by index: 0 image, 1 condition, 2 filter, 3 bias, 4 the INT32 1 (padding scheme and
 * strides), 5 the INT32 0 (activation), 6 the convolution's output, 7 and 8 the branches, 9 the output.
 */
export const controlModel: Model = modelOf(
  subgraphOf(
    [
      operand({ ...image, ...input }),
      operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...input }),
      operand({
        type: OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
        dimensions: [3, 1, 1, 3],
        lifetime: OperandLifeTime.CONSTANT_REFERENCE,
        location: { poolIndex: 1, offset: 7, length: 9 },
        extraParams: { kind: "channelQuant", channelQuant: { scales: [0.25, 0.5, 1], channelDim: 0 } },
      }),
      bias,
      one,
      zero,
      operand(image),
      reference(0),
      reference(1),
      operand({ ...image, scale: 1 / 256, zeroPoint: 0, ...output }),
    ],
    [operation("CONV_2D", [0, 2, 3, 4, 4, 4, 5], [6]), operation("IF", [1, 7, 8, 6], [9])],
  ),
  {
    referenced: [branch, branch],
    operandValues: values,
    pools: [
      { name: "ashmem", size: 4, handle: { kind: "buffer", buffer: new ArrayBuffer(4), byteOffset: 0 } },
      { name: "mmap_fd", size: 16, handle: { kind: "fileDescriptor", fd: 3, protection: 1, offset: 0 } },
    ],
    extensionNameToPrefix: [
      { name: "com.example.one", prefix: 1 },
      { name: "com.example.two", prefix: 2 },
    ],
  },
);

const vector = { type: OperandType.TENSOR_FLOAT32, dimensions: [2] };
const flag = { type: OperandType.TENSOR_BOOL8, dimensions: [1] };

/** Computes a flag of two of a loop's three values: an extension's operation, so that no other rule applies. */
const extensionOperation = 0x1_0001;

/**
 * A loop, valid at HAL 1.3 for a driver: three values. The first is the output (m = 1), the second is only passed
 * from round to round (k = 1), and the third is the same in every round (n = 1). Subgraph 0 is the condition, 1 the body. Main's
 * operands: 0 – 2 the values, 3 and 4 the subgraphs, 5 the output.
 */
export const loopModel: Model = modelOf(
  subgraphOf(
    [
      operand({ ...vector, ...input }),
      operand({ ...vector, ...input }),
      operand({ ...vector, dimensions: [3], ...input }),
      reference(0),
      reference(1),
      operand({ ...vector, ...output }),
    ],
    [operation("WHILE", [3, 4, 0, 1, 2], [5])],
  ),
  {
    referenced: [
      subgraphOf(
        [
          operand({ ...vector, ...input }),
          operand({ ...vector, ...input }),
          operand({ ...vector, dimensions: [3], ...input }),
          operand({ ...flag, ...output }),
        ],
        [{ type: extensionOperation, inputs: [0, 1], outputs: [3] }],
      ),
      subgraphOf(
        [
          operand({ ...vector, ...input }),
          operand({ ...vector, ...input }),
          operand({ ...vector, dimensions: [3], ...input }),
          operand({ ...vector, ...output }),
          operand({ ...vector, ...output }),
        ],
        [operation("FLOOR", [1], [3]), operation("FLOOR", [0], [4])],
      ),
    ],
    extensionNameToPrefix: [{ name: "com.example.flags", prefix: 1 }],
  },
);

/** A copy of something with one value replaced; `path` is written as issues write it, such as `main.operands[3].scale`. */
export function changePart<T extends object>(whole: T, path: string, value: unknown): T {
  const [step, ...rest] = path.split(/[.[\]]+/).filter((part) => part !== "");
  if (step === undefined) throw new TypeError(`"${path}" is not a path`);
  const copy: T = Array.isArray(whole) ? Object.assign([], whole) : { ...whole };
  if (rest.length === 0) {
    Reflect.set(copy, step, value);
    return copy;
  }
  const within: unknown = Reflect.get(whole, step);
  if (typeof within !== "object" || within === null) throw new TypeError(`${path}: there is no ${step}`);
  Reflect.set(copy, step, changePart(within, rest.join("."), value));
  return copy;
}

/** Several changes, one after the other. */
export function changeParts<T extends object>(whole: T, changes: Readonly<Record<string, unknown>>): T {
  return Object.entries(changes).reduce((changing, [path, value]) => changePart(changing, path, value), whole);
}

/** The rules that issues name, with their paths. */
export function listRules(issues: readonly { readonly code: string; readonly path: string }[]): string[] {
  return issues.map(({ code, path }) => `${code} ${path}`);
}
