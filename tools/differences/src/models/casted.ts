/**
 * Operators in types that the builds take from no caller: the inputs of the model are cast to the type, and the results cast back. Constants have
 * the type itself.
 */
import type { Drawer, DrawnGraph, DrawnInput, DrawnModel, DrawnType } from "./draw.ts";
import { createDraw, graphModel } from "./draw.ts";

/** The types, and those that callers give in their place. */
const bases: Readonly<Partial<Record<DrawnType, DrawnType>>> = {
  FLOAT16: "FLOAT32",
  FLOAT64: "FLOAT32",
  UINT32: "INT32",
};

/**
 * The operators that one of the builds computes in these types. FAKE_QUANT, MATRIX_DIAG and MATRIX_SET_DIAG check no types there, and leave results
 * of others as they are.
 */
const kernels: Readonly<Partial<Record<DrawnType, string>>> = {
  FLOAT16:
    "ABS ADD ATAN2 BATCH_TO_SPACE_ND CEIL CONCATENATION COS DILATE DIV DYNAMIC_UPDATE_SLICE ELU EMBEDDING_LOOKUP EXP EXPAND_DIMS FILL FLOOR GATHER GATHER_ND GELU HARD_SWISH HASHTABLE_LOOKUP LEAKY_RELU LOG LOGISTIC MAXIMUM MINIMUM MIRROR_PAD MUL NEG PAD PADV2 RELU RELU6 RELU_N1_TO_1 RESHAPE RESIZE_NEAREST_NEIGHBOR REVERSE_V2 ROUND RSQRT SELECT SELECT_V2 SIN SLICE SOFTMAX SPACE_TO_BATCH_ND SPLIT SQRT SQUARE SQUARED_DIFFERENCE SQUEEZE STABLEHLO_ADD STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD STRIDED_SLICE SUB TANH TILE TRANSPOSE UNPACK",
  FLOAT64:
    "ATAN2 BATCH_TO_SPACE_ND DILATE EMBEDDING_LOOKUP EXPAND_DIMS FILL HASHTABLE_LOOKUP MIRROR_PAD REDUCE_WINDOW RESHAPE SELECT SELECT_V2 SIGN SLICE SPACE_TO_BATCH_ND SQUEEZE STABLEHLO_ADD STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD STRIDED_SLICE TILE TRANSPOSE",
  UINT32:
    "BATCH_TO_SPACE_ND BITWISE_XOR CONCATENATION DILATE EXPAND_DIMS FILL MIRROR_PAD MUL PACK RESHAPE RIGHT_SHIFT SELECT SELECT_V2 SLICE SPACE_TO_BATCH_ND SQUEEZE STABLEHLO_ADD STABLEHLO_AND STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_PAD STRIDED_SLICE TILE TRANSPOSE",
};

/** Places of inputs and outputs that have the type of the model, and not one of their own, such as axes. */
interface Places {
  readonly inputs: readonly boolean[];
  readonly outputs: readonly boolean[];
}

/** The places that change with the type of the model. */
function placesOf({ draw, types }: Drawer): Places {
  const models = types.slice(0, 2).map((type) => [type, draw(createDraw(1), type)] as const);
  const follow = (typesOf: (model: DrawnModel) => readonly (DrawnType | undefined)[]) =>
    typesOf(models[0]?.[1] ?? { inputs: [], outputs: [] }).map((_, place) =>
      models.every(([type, model]) => typesOf(model)[place] === type),
    );
  return {
    inputs: follow(({ inputs }) => inputs.map((input) => input?.type)),
    outputs: follow(({ outputs }) => outputs.map((output) => output.type)),
  };
}

/** A model in another type; undefined for one with parts that no cast reaches. */
function castModel(
  operator: string,
  model: DrawnModel,
  places: Places,
  base: DrawnType,
  type: DrawnType,
): DrawnModel | undefined {
  const { inputs, outputs, options, bodies = [], graphs } = model;
  const isCastInput = (own: DrawnType, at: number) => own === base && places.inputs[at] !== false;
  const isCastOutput = (own: DrawnType, at: number) => own === base && places.outputs[at] !== false;
  const isOther = inputs.some((input) => input?.isVariable || input?.scale !== undefined);
  if (
    bodies.length > 0 ||
    graphs !== undefined ||
    isOther ||
    !outputs.some((output, at) => isCastOutput(output.type, at))
  )
    return undefined;
  const tensors: Record<string, DrawnGraph["tensors"][string]> = {};
  const operators: DrawnGraph["operators"][number][] = [];
  const names = inputs.map((input, at): string | undefined => {
    if (input === undefined) return undefined;
    const name = `in${at}`;
    if (!isCastInput(input.type, at) || input.data !== undefined) {
      tensors[name] = isCastInput(input.type, at) ? { ...input, type } : input;
      return name;
    }
    tensors[name] = input;
    tensors[`cast${at}`] = { type, shape: input.shape };
    operators.push(cast(base, type, name, `cast${at}`));
    return `cast${at}`;
  });
  const results = outputs.map((output, at) => {
    const name = `result${at}`;
    tensors[name] = { type: isCastOutput(output.type, at) ? type : output.type };
    return name;
  });
  // TensorFlow Lite's lower bound of this activation wraps in UINT32, so that each result is 1.
  const isWrapping = type === "UINT32" && options?.fusedActivationFunction === "RELU_N1_TO_1";
  const own = isWrapping ? { ...options, fusedActivationFunction: "RELU" } : options;
  operators.push({ name: operator, inputs: names, outputs: results, ...(own && { options: own }) });
  const last = outputs.map((output, at) => {
    if (!isCastOutput(output.type, at)) return `result${at}`;
    tensors[`out${at}`] = { type: base };
    operators.push(cast(type, base, `result${at}`, `out${at}`));
    return `out${at}`;
  });
  const isGiven = (input: DrawnInput | undefined) => input !== undefined && input.data === undefined;
  return graphModel({
    ...{ tensors, operators },
    ...{ inputs: inputs.flatMap((input, at) => (isGiven(input) ? [`in${at}`] : [])), outputs: last },
  });
}

function cast(from: DrawnType, to: DrawnType, input: string, output: string): DrawnGraph["operators"][number] {
  return { name: "CAST", inputs: [input], outputs: [output], options: { inDataType: from, outDataType: to } };
}

/** Drawers with these types besides their own, where a model can be cast. */
export function withCasts(drawers: Readonly<Record<string, Drawer>>): Readonly<Record<string, Drawer>> {
  return Object.fromEntries(
    Object.entries(drawers).map(([operator, drawer]): [string, Drawer] => {
      const places = placesOf(drawer);
      // The types are keys of the table.
      const added = (Object.keys(bases) as DrawnType[]).filter((type) => kernels[type]?.split(" ").includes(operator));
      return [
        operator,
        {
          types: [...drawer.types, ...added],
          draw(random, type) {
            const base = bases[type];
            if (base === undefined || drawer.types.includes(type)) return drawer.draw(random, type);
            const model = drawer.draw(random, base);
            return castModel(operator, model, places, base, type) ?? model;
          },
        },
      ];
    }),
  );
}
