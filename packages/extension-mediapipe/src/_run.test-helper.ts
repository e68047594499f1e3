/** Runs .tflite files with MediaPipe's operators, as an application does. */
import { load } from "@nnhal/network";
import { type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { mediapipe } from "./index.ts";

/** A tensor: its shape, and its elements if it is a constant. */
export interface Given {
  /** Default: FLOAT32. */
  readonly type?: "INT32";
  readonly shape: readonly number[];
  readonly data?: readonly number[];
}

/** A tensor with elements. */
export type Constant = Given & Required<Pick<Given, "data">>;

/** A custom operator of a file; tensors by name. */
export interface CustomOperator {
  readonly customCode: string;
  readonly version?: number;
  readonly options: Uint8Array;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A file of custom operators. Its inputs are the tensors that are neither constants nor results. */
export function fileOf(
  tensors: Readonly<Record<string, Given>>,
  operators: readonly CustomOperator[],
  outputs: string[],
): Uint8Array {
  const names = Object.keys(tensors);
  const places = (list: readonly string[]) => list.map((name) => names.indexOf(name));
  const results = new Set(operators.flatMap((operator) => operator.outputs));
  const inputs = names.filter((name) => !results.has(name) && tensors[name]?.data === undefined);
  const model: TfliteModel = {
    version: 3,
    description: "",
    metadata: [],
    signatures: [],
    subgraphs: [
      {
        name: "main",
        tensors: Object.entries(tensors).map(
          ([name, { type, shape, data }]): TfliteTensor => ({
            name,
            type: type ?? "FLOAT32",
            shape,
            isVariable: false,
            ...(data && { data: new Uint8Array((type === "INT32" ? Int32Array : Float32Array).from(data).buffer) }),
          }),
        ),
        inputs: places(inputs),
        outputs: places(outputs),
        operators: operators.map(({ customCode, version = 1, options, ...operator }) => ({
          name: "CUSTOM",
          customCode,
          version,
          options: {},
          customOptions: options,
          inputs: places(operator.inputs),
          outputs: places(operator.outputs),
        })),
      },
    ],
  };
  return writeTflite(model);
}

/** The outputs of a file for inputs, by name. */
export async function runFile(file: Uint8Array, inputs: Readonly<Record<string, readonly number[]>>) {
  const model = await load(file, { devices: "reference", extensions: [mediapipe] });
  const given = Object.entries(inputs).map(([name, values]) => [name, Float32Array.from(values)] as const);
  const results = await model.run(Object.fromEntries(given));
  model.close();
  return results;
}

/** One operator: `x` is its first input, constants are the others; the result is `y`. */
export async function runOne(
  operator: Omit<CustomOperator, "inputs" | "outputs">,
  x: Constant,
  constants: readonly Constant[] = [],
  shape: readonly number[] = [1, 1, 1, 1],
): Promise<{ readonly shape: readonly number[]; readonly data: number[] }> {
  const others = Object.fromEntries(constants.map((constant, index) => [`c${index}`, constant]));
  const inputs = ["x", ...Object.keys(others)];
  const tensors = { x: { shape: x.shape }, ...others, y: { shape } };
  const { y } = await runFile(fileOf(tensors, [{ ...operator, inputs, outputs: ["y"] }], ["y"]), { x: x.data });
  if (y === undefined) throw new Error("there is no result y");
  return { shape: y.shape, data: Array.from(y.data as Float32Array) };
}

/** 32-bit integers as a C struct. */
export const struct = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);

/** Different numbers, the same for each seed: multiples of 1 / 64 from -4 on, below 4. */
export function numbers(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return ((state >>> 16) % 512) / 64 - 4;
  });
}
