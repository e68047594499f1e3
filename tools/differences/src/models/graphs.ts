/** Operators that are tried in a model of several: loops, tables, variables, random numbers, complex numbers and strings. */
import {
  count,
  type Draw,
  type Drawer,
  type DrawnGraph,
  type DrawnInput,
  type DrawnOperator,
  type DrawnType,
  FLOATS,
  giveInput,
  graphModel,
  WHOLE,
} from "./draw.ts";

const TYPES = [...FLOATS, ...WHOLE] as const;

const fused = { fusedActivationFunction: "NONE" } as const;

/** An operator of one result. */
function step(
  name: string,
  inputs: readonly (string | undefined)[],
  output: string,
  options: DrawnOperator["options"] = {},
): DrawnOperator {
  return { name, inputs, outputs: [output], options };
}

/** A loop: it counts to a limit, and changes another value with each round. */
const loop: Drawer = {
  types: TYPES,
  draw(random, type) {
    const value: DrawnInput = { type, shape: random.shape(1, 3, 3), range: [-3, 3] };
    const counter: DrawnInput = { type: "INT32", shape: [1], range: [0, 3] };
    const condition: DrawnGraph = {
      tensors: {
        i: counter,
        x: value,
        limit: { type: "INT32", shape: [1], data: [random.int(0, 4)] },
        go: { type: "BOOL", shape: [1] },
      },
      operators: [step("LESS", ["i", "limit"], "go")],
      inputs: ["i", "x"],
      outputs: ["go"],
    };
    const data = Array.from({ length: count(value.shape) }, () => random.int(-2, 2));
    const body: DrawnGraph = {
      tensors: {
        ...{ i: counter, x: value, one: { type: "INT32", shape: [1], data: [1] }, j: counter },
        ...{ factor: { type, shape: value.shape, data }, y: value },
      },
      operators: [
        step("ADD", ["i", "one"], "j", fused),
        step(random.pick(["ADD", "MUL", "SUB"]), ["x", "factor"], "y", fused),
      ],
      inputs: ["i", "x"],
      outputs: ["j", "y"],
    };
    const main: DrawnGraph = {
      tensors: { i: counter, x: value, last: counter, result: value },
      operators: [
        {
          name: "WHILE",
          inputs: ["i", "x"],
          outputs: ["last", "result"],
          options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 },
        },
      ],
      inputs: ["i", "x"],
      outputs: ["last", "result"],
    };
    return graphModel(main, condition, body);
  },
};

const call: Drawer = {
  types: TYPES,
  draw(random, type) {
    const one: DrawnInput = { type, shape: random.shape(1, 3) };
    const body: DrawnGraph = {
      tensors: { a: one, b: one, c: one },
      operators: [step(random.pick(["ADD", "SUB", "MUL"]), ["a", "b"], "c", fused)],
      inputs: ["a", "b"],
      outputs: ["c"],
    };
    const main = { ...body, operators: [step("CALL", ["a", "b"], "c", { subgraph: 1 })] };
    return graphModel(main, body);
  },
};

const handle: DrawnInput = { type: "RESOURCE", shape: [] };

/** A variable that is set once to constants; the sum of it and an input is kept, and read again. */
const variable: Drawer = {
  types: TYPES,
  draw(random, type) {
    const one: DrawnInput = { type, shape: random.shape(1, 3) };
    const open = step("VAR_HANDLE", [], "v", { container: "", sharedName: "v" });
    const initial: DrawnGraph = {
      tensors: { v: handle, c: { ...one, data: random.ints(count(one.shape), -5, 5) } },
      operators: [open, { name: "ASSIGN_VARIABLE", inputs: ["v", "c"], outputs: [] }],
      inputs: [],
      outputs: [],
    };
    const main: DrawnGraph = {
      tensors: { x: one, v: handle, before: one, sum: one, after: one, y: one },
      operators: [
        { name: "CALL_ONCE", inputs: [], outputs: [], options: { initSubgraphIndex: 1 } },
        open,
        step("READ_VARIABLE", ["v"], "before"),
        step("ADD", ["before", "x"], "sum", fused),
        { name: "ASSIGN_VARIABLE", inputs: ["v", "sum"], outputs: [] },
        step("READ_VARIABLE", ["v"], "after"),
        step("MUL", ["after", "x"], "y", fused),
      ],
      inputs: ["x"],
      outputs: ["y"],
    };
    return graphModel(main, initial);
  },
};

const words = ["", "a", "b", "ab", "Ω", "long word"] as const;

/** Some different words. */
function someWords(random: Draw, most: number): string[] {
  const order = random.order(words.length);
  return order.slice(0, random.int(1, most)).map((place) => words[place] ?? "");
}

/** A table from strings to numbers, which is filled once and searched for constants. The result depends on an input, so that it is computed. */
const table: Drawer = {
  types: ["INT64"],
  draw(random) {
    const keys = someWords(random, 5);
    const shape = [keys.length];
    const open = step("HASHTABLE", [], "t", { tableId: 1, keyDtype: "STRING", valueDtype: "INT64" });
    const initial: DrawnGraph = {
      tensors: {
        ...{ t: { ...handle, shape: [1] }, k: { type: "STRING", shape, strings: keys } },
        n: { type: "INT64", shape, data: random.ints(keys.length, -9, 9) },
      },
      operators: [open, { name: "HASHTABLE_IMPORT", inputs: ["t", "k", "n"], outputs: [] }],
      inputs: [],
      outputs: [],
    };
    const asked = Array.from({ length: random.int(1, 5) }, () => random.pick(words));
    const found: DrawnInput = { type: "INT64", shape: [asked.length] };
    const whole: DrawnInput = { type: "INT32", shape: [asked.length] };
    const main: DrawnGraph = {
      tensors: {
        ...{ x: whole, t: { ...handle, shape: [1] }, q: { type: "STRING", shape: [asked.length], strings: asked } },
        ...{
          other: { type: "INT64", shape: [1], data: [random.int(-99, 99)] },
          found,
          size: { type: "INT64", shape: [1] },
        },
        ...{ small: whole, least: { type: "INT32", shape: [1] }, sum: whole, y: whole },
      },
      operators: [
        { name: "CALL_ONCE", inputs: [], outputs: [], options: { initSubgraphIndex: 1 } },
        open,
        step("HASHTABLE_FIND", ["t", "q", "other"], "found"),
        step("HASHTABLE_SIZE", ["t"], "size"),
        step("CAST", ["found"], "small", { inDataType: "INT64", outDataType: "INT32" }),
        step("CAST", ["size"], "least", { inDataType: "INT64", outDataType: "INT32" }),
        step("ADD", ["small", "x"], "sum", fused),
        step("MUL", ["sum", "least"], "y", fused),
      ],
      inputs: ["x"],
      outputs: ["y"],
    };
    return graphModel(main, initial);
  },
};

/** Random numbers from seeds, and an input that is added to them. */
function randomNumbers(name: string): Drawer {
  return {
    types: FLOATS,
    draw(random) {
      const shape = random.shape(1, 3, 6);
      const one: DrawnInput = { type: "FLOAT32", shape };
      return graphModel({
        tensors: { x: one, s: { type: "INT32", shape: [shape.length], data: shape }, r: one, y: one },
        operators: [
          step(name, ["s"], "r", { seed: random.int(1, 99), seed2: random.int(1, 99) }),
          step("ADD", ["r", "x"], "y", fused),
        ],
        inputs: ["x"],
        outputs: ["y"],
      });
    },
  };
}

const multinomial: Drawer = {
  types: ["INT32", "INT64"],
  draw(random, type) {
    const [rows, classes, samples] = [random.int(1, 3), random.int(2, 5), random.int(1, 6)];
    const options = { seed: random.int(1, 99), seed2: random.int(1, 99) };
    return graphModel({
      tensors: {
        ...{ x: { type: "FLOAT32", shape: [rows, classes] }, n: { type: "INT32", shape: [], data: [samples] } },
        ...{ r: { type, shape: [rows, samples] }, y: { type: "FLOAT32", shape: [rows, samples] } },
      },
      operators: [
        step("MULTINOMIAL", ["x", "n"], "r", options),
        step("CAST", ["r"], "y", { inDataType: type, outDataType: "FLOAT32" }),
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
  },
};

const randomBits: Drawer = {
  types: ["INT32"],
  draw(random, type) {
    const algorithm = random.pick(["PHILOX", "THREEFRY", "DEFAULT"]);
    const words = algorithm === "THREEFRY" ? 2 : 3;
    const bits: DrawnInput = { type, shape: random.shape(1, 3, 6) };
    const key: DrawnInput = { type: "UINT64", shape: [words], data: random.ints(words, 0, 1_000_000) };
    const next: DrawnInput = { type: "UINT64", shape: [words] };
    return graphModel({
      tensors: { x: bits, key, next, bits, y: bits },
      operators: [
        { name: "STABLEHLO_RNG_BIT_GENERATOR", inputs: ["key"], outputs: ["next", "bits"], options: { algorithm } },
        step("BITWISE_XOR", ["bits", "x"], "y"),
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
  },
};

/** The transform of real numbers, and a part of its complex results. */
function spectrum(part: string): Drawer {
  return {
    types: FLOATS,
    draw(random) {
      const [rows, columns] = [random.pick([1, 2, 4, 8]), random.pick([2, 4, 8, 16])];
      const batches = random.shape(0, 2, 3);
      const image: DrawnInput = { type: "FLOAT32", shape: [...batches, random.int(1, 9), random.int(1, 17)] };
      const shape = [...batches, rows, columns / 2 + 1];
      return graphModel({
        tensors: {
          ...{ x: image, size: { type: "INT32", shape: [2], data: [rows, columns] } },
          ...{ z: { type: "COMPLEX64", shape }, y: { type: "FLOAT32", shape } },
        },
        operators: [step("RFFT2D", ["x", "size"], "z"), step(part, ["z"], "y")],
        inputs: ["x"],
        outputs: ["y"],
      });
    },
  };
}

/** Products of complex numbers, made of real ones. */
const complexProduct: Drawer = {
  types: ["COMPLEX64"],
  draw() {
    const one: DrawnInput = { type: "FLOAT32", shape: [2, 4] };
    const complex: DrawnInput = { type: "COMPLEX64", shape: [2, 3] };
    const part: DrawnInput = { type: "FLOAT32", shape: [2, 3] };
    return graphModel({
      tensors: {
        ...{ a: one, b: one, size: { type: "INT32", shape: [2], data: [2, 4] } },
        ...{ p: complex, q: complex, z: complex, re: part, im: part },
      },
      operators: [
        step("RFFT2D", ["a", "size"], "p"),
        step("RFFT2D", ["b", "size"], "q"),
        step("MUL", ["p", "q"], "z", fused),
        step("REAL", ["z"], "re"),
        step("IMAG", ["z"], "im"),
      ],
      inputs: ["a", "b"],
      outputs: ["re", "im"],
    });
  },
};

const projection: Drawer = {
  types: ["INT32", "FLOAT32"],
  draw(random, type) {
    const [functions, bits, rows] = [random.int(1, 3), random.int(1, 4), random.int(1, 4)];
    const data = Array.from({ length: functions * bits }, () => 2 * random.next() - 1);
    const weights = Array.from({ length: rows }, () => random.next());
    return {
      inputs: [
        { type: "FLOAT32", shape: [functions, bits], data },
        giveInput(random, type, [rows, random.int(1, 3)]),
        random.bool() ? { type: "FLOAT32", shape: [rows], data: weights } : undefined,
      ],
      outputs: [{ type: "INT32" }],
      options: { type: random.pick(["SPARSE", "DENSE"]) },
    };
  },
};

/** Strings that an operator moves are compared with each word; an input keeps the results from being constants. */
function move(
  shape: (random: Draw) => readonly number[],
  operator: (
    random: Draw,
    shape: readonly number[],
  ) => {
    readonly name: string;
    readonly constants: Readonly<Record<string, DrawnInput>>;
    readonly inputs?: readonly string[];
    readonly options?: DrawnOperator["options"];
    readonly shape: readonly number[];
  },
): Drawer {
  return {
    types: ["STRING"],
    draw(random) {
      const own = shape(random);
      const strings = Array.from({ length: count(own) }, () => random.pick(words));
      const {
        name,
        constants,
        inputs = ["s", ...Object.keys(constants)],
        options,
        shape: into,
      } = operator(random, own);
      const asked = words.slice(1, 4);
      const result: DrawnInput = { type: "BOOL", shape: into };
      const yes: DrawnInput = { type: "BOOL", shape: [1] };
      return graphModel({
        tensors: {
          ...{ yes, s: { type: "STRING", shape: own, strings }, ...constants, m: { type: "STRING", shape: into } },
          ...Object.fromEntries(
            asked.flatMap((word, at) => [
              [`w${at}`, { type: "STRING", shape: [1], strings: [word] }] as const,
              [`e${at}`, result] as const,
              [`y${at}`, result] as const,
            ]),
          ),
        },
        operators: [
          step(name, inputs, "m", options),
          ...asked.flatMap((_, at) => [
            step(at % 2 === 0 ? "EQUAL" : "NOT_EQUAL", ["m", `w${at}`], `e${at}`),
            step("LOGICAL_AND", [`e${at}`, "yes"], `y${at}`),
          ]),
        ],
        inputs: ["yes"],
        outputs: asked.map((_, at) => `y${at}`),
      });
    },
  };
}

const whole = (...data: readonly number[]): DrawnInput => ({ type: "INT32", shape: [data.length], data });
const flatten = (random: Draw) => random.shape(1, 3, 4);

const strings: Readonly<Record<string, Drawer>> = {
  // Of one dimension: TensorFlow Lite gathers no others.
  GATHER: move(
    (random) => random.shape(1, 1, 6),
    (random, shape) => {
      const places = random.ints(random.int(1, 4), 0, (shape[0] ?? 1) - 1);
      return { name: "GATHER", constants: { i: whole(...places) }, shape: [places.length, ...shape.slice(1)] };
    },
  ),
  GATHER_ND: move(flatten, (random, shape) => {
    const places = random.ints(3, 0, (shape[0] ?? 1) - 1);
    return {
      name: "GATHER_ND",
      constants: { i: { type: "INT32", shape: [3, 1], data: places } },
      shape: [3, ...shape.slice(1)],
    };
  }),
  SLICE: move(flatten, (random, shape) => {
    const begin = shape.map((extent) => random.int(0, extent - 1));
    const size = shape.map((extent, at) => random.int(1, extent - (begin[at] ?? 0)));
    return { name: "SLICE", constants: { b: whole(...begin), n: whole(...size) }, shape: size };
  }),
  STRIDED_SLICE: move(flatten, (random, shape) => {
    const begin = shape.map((extent) => random.int(0, extent - 1));
    const constants = { b: whole(...begin), e: whole(...shape), d: whole(...shape.map(() => 1)) };
    return { name: "STRIDED_SLICE", constants, shape: shape.map((extent, at) => extent - (begin[at] ?? 0)) };
  }),
  RESHAPE: move(flatten, (_, shape) => ({
    name: "RESHAPE",
    constants: { n: whole(count(shape)) },
    options: { newShape: [count(shape)] },
    shape: [count(shape)],
  })),
  TILE: move(flatten, (random, shape) => {
    const times = shape.map(() => random.int(1, 2));
    return {
      name: "TILE",
      constants: { n: whole(...times) },
      shape: shape.map((extent, at) => extent * (times[at] ?? 1)),
    };
  }),
  EXPAND_DIMS: move(flatten, (_, shape) => ({ name: "EXPAND_DIMS", constants: { a: whole(0) }, shape: [1, ...shape] })),
  FILL: move(
    () => [],
    (random) => {
      const shape = random.shape(1, 2, 3);
      return { name: "FILL", constants: { n: whole(...shape) }, inputs: ["n", "s"], shape };
    },
  ),
};

/** Models of several operators, by the operator that they try. */
export const graphs: Readonly<Record<string, Drawer>> = {
  ...strings,
  CALL: call,
  COMPLEX_ABS: spectrum("COMPLEX_ABS"),
  HASHTABLE_FIND: table,
  IMAG: spectrum("IMAG"),
  LSH_PROJECTION: projection,
  MUL: complexProduct,
  MULTINOMIAL: multinomial,
  RANDOM_STANDARD_NORMAL: randomNumbers("RANDOM_STANDARD_NORMAL"),
  RANDOM_UNIFORM: randomNumbers("RANDOM_UNIFORM"),
  READ_VARIABLE: variable,
  REAL: spectrum("REAL"),
  STABLEHLO_RNG_BIT_GENERATOR: randomBits,
  WHILE: loop,
};

/** The drawers of both tables; an operator of both is drawn in the types of both. */
export function joinDrawers(
  one: Readonly<Record<string, Drawer>>,
  other: Readonly<Record<string, Drawer>>,
): Readonly<Record<string, Drawer>> {
  const both = Object.entries(other).map(([operator, drawer]): [string, Drawer] => {
    const first = one[operator];
    if (first === undefined) return [operator, drawer];
    const draw = (random: Draw, type: DrawnType) => (first.types.includes(type) ? first : drawer).draw(random, type);
    return [operator, { types: [...first.types, ...drawer.types], draw }];
  });
  return { ...one, ...Object.fromEntries(both) };
}
