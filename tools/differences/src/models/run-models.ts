/** Random models of single operators, on the reference and in both builds of TensorFlow Lite. */
import { elementAt } from "@nnhal/operations";
import type { Result } from "../device.ts";
import type { OracleEngine } from "../oracle.ts";
import { withCasts } from "./casted.ts";
import { createDraw, type Drawer, type DrawnModel, type DrawnType } from "./draw.ts";
import { elementwise } from "./elementwise.ts";
import { bytesOf, copiedType, type DrawnElements, drawElements, elementsOfBytes, fileOf } from "./file.ts";
import { graphs, joinDrawers } from "./graphs.ts";
import { hybrids } from "./hybrid.ts";
import { judge, type Verdict } from "./judge.ts";
import { layers } from "./layers.ts";
import { movement } from "./movement.ts";
import type { OracleProcess } from "./oracle-process.ts";
import { stablehlo } from "./stablehlo.ts";

/** Types besides those of the drawers, in which a build computes the operators too. */
const further: Readonly<Record<string, string>> = {
  BATCH_TO_SPACE_ND: "INT16 BOOL",
  DILATE: "INT16",
  DIV: "INT16",
  DYNAMIC_UPDATE_SLICE: "INT16",
  EMBEDDING_LOOKUP: "INT32 UINT8 INT8 INT16 BOOL",
  EXPAND_DIMS: "BOOL",
  FILL: "UINT8",
  FLOOR_DIV: "INT8 INT16",
  FLOOR_MOD: "INT8 INT16",
  GELU: "INT16",
  HASHTABLE_LOOKUP: "INT32 INT64 UINT8 INT8 INT16",
  IF: "INT16",
  LOG: "INT16",
  MIRROR_PAD: "BOOL",
  NEG: "INT16",
  PAD: "BOOL",
  PRELU: "INT16",
  READ_VARIABLE: "INT16",
  REDUCE_WINDOW: "UINT8 INT8 INT16",
  RELU_0_TO_1: "UINT8 INT8",
  RESIZE_NEAREST_NEIGHBOR: "INT32 BOOL",
  RSQRT: "INT16",
  SHAPE: "UINT8 INT8 INT16 BOOL",
  SPACE_TO_BATCH_ND: "INT16 BOOL",
  SQRT: "INT16",
  STABLEHLO_ADD: "UINT8 INT8 INT16 BOOL",
  STABLEHLO_AND: "UINT8 INT8 INT16",
  STABLEHLO_CASE: "INT16",
  STABLEHLO_GATHER: "UINT8 INT8 INT16 BOOL",
  STABLEHLO_MAXIMUM: "UINT8 INT8 INT16 BOOL",
  STABLEHLO_MINIMUM: "UINT8 INT8 INT16 BOOL",
  STABLEHLO_MULTIPLY: "UINT8 INT8 INT16 BOOL",
  STABLEHLO_PAD: "UINT8 INT16",
  STABLEHLO_REDUCE_WINDOW: "UINT8 INT16",
  STABLEHLO_SCATTER: "UINT8 INT8 INT16 BOOL",
  UNIQUE: "INT64",
  WHERE: "INT64",
};

function withFurther(all: Readonly<Record<string, Drawer>>): Readonly<Record<string, Drawer>> {
  return Object.fromEntries(
    Object.entries(all).map(([operator, drawer]) => {
      // The texts are names of types.
      const types = (further[operator]?.split(" ") ?? []) as DrawnType[];
      return [operator, { ...drawer, types: [...drawer.types, ...types] }];
    }),
  );
}

/** All operators that are drawn, in alphabetical order. A word behind an operator tells models of it apart. */
export const drawers: Readonly<Record<string, Drawer>> = Object.fromEntries(
  Object.entries({
    ...withFurther(joinDrawers(withCasts({ ...elementwise, ...movement, ...layers, ...stablehlo }), graphs)),
    ...hybrids,
  }).sort(([one], [other]) => (one < other ? -1 : 1)),
);

/** The file of a model that was drawn. */
export function drawnFile(drawn: string, model: DrawnModel, shapes?: readonly (readonly number[])[]): Uint8Array {
  const [operator = drawn] = drawn.split(" ");
  return fileOf(operator, model, shapes);
}

/** Runs a model: its results, or why there are none. */
export type RunModel = (file: Uint8Array, inputs: readonly DrawnElements[]) => Promise<readonly Result[] | string>;

/** The outcome of a model in one build of TensorFlow Lite. */
export type Outcome = Verdict | { readonly kind: "refused"; readonly message: string };

/** A model that was compared. */
export interface Compared {
  readonly operator: string;
  readonly type: DrawnType;
  readonly seed: number;
  /** Why the reference does not run it. */
  readonly refusal?: string;
  readonly outcomes: Readonly<Record<OracleEngine, Outcome>>;
}

/** Draws a model of an operator in a type, and compares it. */
export async function compareModel(
  operator: string,
  type: DrawnType,
  seed: number,
  run: RunModel,
  oracles: Readonly<Record<OracleEngine, OracleProcess>>,
): Promise<Compared> {
  const drawer = drawers[operator];
  if (drawer === undefined) throw new RangeError(`there is no operator ${operator}`);
  const model = drawer.draw(createDraw(seed), type);
  const inputs = drawElements(model, seed + 1);
  const results = await run(drawnFile(operator, model), inputs);
  const shapes = typeof results === "string" ? undefined : results.map(({ shape }) => shape);
  const file = drawnFile(operator, model, shapes ?? model.outputs.map(() => model.inputs[0]?.shape ?? [1]));
  const outcomeOf = async (engine: OracleEngine): Promise<Outcome> => {
    const expected = await oracles[engine].run({ model: file, inputs: inputs.map(bytesOf) });
    if (typeof expected === "string") return { kind: "refused", message: expected };
    if (typeof results === "string") return { kind: "differs", message: `refused: ${results}` };
    return worst(model, results, expected, type === "FLOAT16");
  };
  const outcomes = { litert: await outcomeOf("litert"), tfjs: await outcomeOf("tfjs") };
  return { operator, type, seed, outcomes, ...(typeof results === "string" && { refusal: results }) };
}

const order = ["equal", "close", "differs"] as const;

function worst(
  { outputs, isCopied = false }: DrawnModel,
  results: readonly Result[],
  expected: readonly Uint8Array[],
  isCoarse: boolean,
): Verdict {
  if (expected.length !== outputs.length)
    return { kind: "differs", message: `${outputs.length} outputs, expected ${expected.length}` };
  const verdicts = outputs.map(({ type: own, scale }, at) => {
    const type = isCopied ? copiedType(own) : own;
    const bytes = elementAt(expected, at);
    return judge(type, scale !== undefined, elementAt(results, at).data, elementsOfBytes(type, bytes), isCoarse);
  });
  return verdicts.reduce((one, other) => (order.indexOf(other.kind) > order.indexOf(one.kind) ? other : one), {
    kind: "equal",
  });
}
