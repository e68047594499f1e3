/**
 * 8-bit operations with the results of the HAL's fixed-point arithmetic, where the engine's own operators round in another way. They take and
 * return bytes as they are stored.
 */
import type { KernelTensor } from "@nnhal/backend";
import { elementTable, float32Prelu, float32Sum } from "@nnhal/backend/float32";
import { type OperationName, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import { type Builder, cast, real, type Value } from "../graph/builder.ts";
import { isShifted, refuse } from "../graph/scope.ts";
import { subtractZeroPoint } from "./_lowering.ts";

/** Two tensors of 8 bits and their result. */
export type Triple = readonly [left: TensorInfo, right: TensorInfo, output: TensorInfo];

/** A function of one element: each of its 256 results is computed once by the reference kernel. */
export function byTable(
  builder: Builder,
  [stored]: readonly Value[],
  name: OperationName,
  input: KernelTensor,
  output: TensorInfo,
): Value {
  if (stored === undefined) return refuse("there is no input");
  const { results } = elementTable(name, { input }, output);
  // Elements are stored from 0 on, whatever the type.
  const shift = isShifted(output.type) ? 128 : 0;
  const table = builder.constant("uint8", [256], () => Uint8Array.from(results, (each) => each + shift));
  return builder.node("Gather", [table, cast(builder, stored, "int32")], { type: "uint8", dims: stored.dims });
}

/** See `Float32Sum`. */
export function exactSum(
  builder: Builder,
  [x, y]: readonly Value[],
  dims: readonly number[],
  [left, right, output]: Triple,
  sign: 1 | -1,
  activation: number,
): Value {
  if (x === undefined || y === undefined) return refuse("an operand is missing");
  const parts = float32Sum(left, right, sign, output);
  const { carryStep, step, restStep } = parts;
  const [l, r] = [subtractZeroPoint(builder, x, left), subtractZeroPoint(builder, y, right)];
  const float32 = { type: "float32", dims } as const;
  const make = (operator: string, first: Value, second: Value | number) =>
    builder.node(operator, [first, typeof second === "number" ? real(builder, second) : second], float32);
  const times = (value: Value, by: number) => builder.node("Mul", [value, real(builder, by)], value);
  const total = (part: "high" | "low") => make("Add", times(l, parts.left[part]), times(r, parts.right[part]));
  const low = total("low");
  const carry = builder.node("Floor", [make("Mul", low, carryStep)], float32);
  const steps = make("Mul", make("Add", total("high"), carry), step);
  const rest = make("Mul", make("Sub", low, make("Mul", carry, 1 / carryStep)), restStep);
  const half = restStep === 0 ? 0.5 : make("Add", rest, 0.5);
  const sum = builder.node("Floor", [make("Add", steps, half)], float32);
  const shift = isShifted(output.type) ? 128 : 0;
  const bounds = quantisedActivationRange(activation, output).map((bound) => real(builder, bound + shift));
  return cast(builder, builder.node("Clip", [make("Add", sum, output.zeroPoint + shift), ...bounds], float32), "uint8");
}

/** See `Float32Prelu`. */
export function exactPrelu(
  builder: Builder,
  [stored, slope]: readonly Value[],
  dims: readonly number[],
  [input, alpha, output]: Triple,
): Value {
  if (stored === undefined || slope === undefined) return refuse("an operand is missing");
  const parts = float32Prelu(input, alpha, output);
  const { leastSteps, greatestSteps } = parts;
  const float32 = { type: "float32", dims } as const;
  const bool = { type: "bool", dims } as const;
  const x = subtractZeroPoint(builder, stored, input);
  const product = builder.node("Mul", [x, subtractZeroPoint(builder, slope, alpha)], float32);
  const near = builder.node(
    "Round",
    [builder.node("Mul", [product, real(builder, parts.perProduct)], float32)],
    float32,
  );
  const bounds = [leastSteps, greatestSteps].map((bound) => real(builder, bound));
  const estimate = builder.node("Clip", [near, ...bounds], float32);
  const starts = builder.constant("float32", [257], () => parts.starts);
  const startAt = (more: number) => {
    const place = builder.node("Add", [estimate, real(builder, more - leastSteps)], float32);
    return builder.node("Gather", [starts, cast(builder, place, "int32")], float32);
  };
  const more = cast(builder, builder.node("GreaterOrEqual", [product, startAt(1)], bool), "float32");
  const less = cast(builder, builder.node("Less", [product, startAt(0)], bool), "float32");
  const steps = builder.node("Sub", [builder.node("Add", [estimate, more], float32), less], float32);
  const shift = isShifted(output.type) ? 128 : 0;
  const negative = builder.node("Add", [steps, real(builder, output.zeroPoint + shift)], float32);
  // The stored bytes begin at 0 for each type.
  const positives = builder.constant("float32", [256], () => parts.positives.map((each) => each + shift));
  const positive = builder.node("Gather", [positives, cast(builder, stored, "int32")], {
    type: "float32",
    dims: stored.dims,
  });
  const isNegative = builder.node("Less", [x, real(builder, 0)], { type: "bool", dims: x.dims });
  return cast(builder, builder.node("Where", [isNegative, negative, positive], float32), "uint8");
}
