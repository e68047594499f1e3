/** Draws one random operand list of a signature: plausible arguments, one or two of them sometimes spoilt. */
import {
  halTypeName,
  type Operation,
  type Param,
  type RankRule,
  type Tensor,
  type TensorInfo,
} from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { drawTensor, type Fill, quantisationOf, randomScale, scalarTensor } from "./elements.ts";
import { broadcast } from "./hints/elementwise.ts";
import { hints } from "./hints.ts";
import type { Random } from "./random.ts";
import type { Signature } from "./signature.ts";
import { spoil } from "./spoil.ts";
import { type Draw, isWantedTensor, type Wanted, type WantedArguments, type WantedTensor } from "./wanted.ts";

/** A random operation: operands of one signature. */
export interface RandomOperation {
  readonly signature: Signature;
  /** Undefined: omitted. */
  readonly inputs: readonly (Tensor | undefined)[];
  /** The model's declaration of the outputs, without their shapes. */
  readonly outputs: readonly TensorInfo[];
  /** The wanted arguments that the inputs were drawn for. Absent if the operation was not drawn. */
  readonly wanted?: readonly (WantedTensor | number | boolean | undefined)[];
}

/** Options for drawing operands. */
export interface DrawOptions {
  /** Probability that operands that should fit are spoilt. Default 0.35. */
  readonly spoilt?: number | undefined;
  /** Content of tensors whose elements do not matter to the shape. Default: mixed. */
  readonly fill?: Fill | undefined;
  /** Draws shapes and scales, instead of at random. */
  readonly steer?: Partial<Pick<Draw, "shape" | "scale" | "offerShape">> | undefined;
}

/** Draws a random operation of a signature. */
export function drawOperation(
  signature: Signature,
  random: Random,
  { spoilt = 0.35, fill = "mixed", steer }: DrawOptions = {},
): RandomOperation {
  const { operation, inputs, outputs, types } = signature;
  const draw = { ...drawFor(signature, random), ...steer };
  let wanted = complete(hints[operation.name]?.(draw) ?? {}, signature, draw);
  while (random.chance(spoilt)) wanted = spoil(wanted, inputs, random);
  const next = variadicCounter();
  const list = inputs.map((param) => argumentAt(wanted[param.name], next(param)));
  return {
    signature,
    wanted: list,
    inputs: inputs.map((param, position) => operandOf(typeOf(param, types), list[position], random, fill)),
    outputs: outputs.map((param) => {
      const type = typeOf(param, types);
      return { type, dimensions: [], ...quantisationOf(type, { dimensions: [] }, random) };
    }),
  };
}

/** The type of a parameter; IF's and WHILE's, which take any, have none. */
function typeOf(param: Param, types: Signature["types"]): OperandTypeName {
  const type = types.get(param);
  if (type === undefined) throw new TypeError(`${param.name} takes operands of any type`);
  return type;
}

function drawFor({ operation, inputs, outputs, types }: Signature, random: Random): Draw {
  const params = [...inputs, ...outputs];
  const named = (name: string) => params.filter((param) => param.name === name);
  const extent = () => random.pick([1, 1, 2, 2, 3, 4, random.chance(0.1) ? 0 : 5]);
  return {
    ...random,
    has: (name) => named(name).length > 0,
    typeOf(name) {
      const [param] = named(name);
      if (param === undefined) throw new TypeError(`${operation.name} has no parameter ${name}`);
      return typeOf(param, types);
    },
    countOf: (name) => named(name).length,
    extent,
    shape: (least = 1, greatest = 4) => Array.from({ length: random.integer(least, greatest) }, extent),
    scale: () => randomScale(random),
  };
}

/**
 * Completes a hint: adds shapes that broadcast, for other tensors the shape of the first one, for scalars a value by their
 * name.
 */
function complete(hinted: WantedArguments, { operation, inputs }: Signature, draw: Draw): WantedArguments {
  const wanted: Record<string, Wanted> = { ...drawBroadcast(operation, draw, hinted), ...hinted };
  const tensors = inputs.filter(({ kind }) => kind === "tensor");
  let shape: readonly number[] | undefined;
  for (const param of tensors) {
    if (!(param.name in wanted)) {
      shape ??= draw.shape(...rankBounds(operation, param));
      wanted[param.name] = { dimensions: shape };
    }
    const first = wanted[param.name];
    if (shape === undefined && isWantedTensor(first)) shape = first.dimensions;
  }
  const rank = shape?.length ?? 1;
  for (const { name, kind, type } of inputs) {
    if (kind !== "tensor" && !(name in wanted)) {
      wanted[name] = kind === "boolean" ? draw.chance(0.5) : numberFor(name, type && halTypeName(type), rank, draw);
    }
  }
  return wanted;
}

/** Tensors whose shapes broadcast, unless a hint has them. */
function drawBroadcast({ broadcasts }: Operation, draw: Draw, hinted: WantedArguments): WantedArguments {
  if (broadcasts === undefined || broadcasts.some((name) => name in hinted)) return {};
  const [left, right] = broadcast(draw);
  return { [broadcasts[0]]: { dimensions: left }, [broadcasts[1]]: { dimensions: right } };
}

function rankBounds({ ranks }: Operation, { name }: Param): readonly [least: number, greatest: number] {
  const rule: RankRule = ranks[name] ?? [1, 4];
  return typeof rule === "number" ? [rule, rule] : [rule[0], Math.min(rule[1], 5)];
}

function numberFor(name: string, type: OperandTypeName | undefined, rank: number, draw: Draw): number {
  if (name === "axis") return draw.integer(-rank, rank - 1);
  if (name === "activation") return draw.pick([0, 0, 1, 2, 3]);
  return type === "INT32" ? draw.integer(1, 3) : draw.pick([0.25, 0.5, 1, 2]);
}

/** Counts the operands of each parameter as it is asked for them. */
function variadicCounter(): (param: Param) => number {
  const counts = new Map<Param, number>();
  return (param) => {
    const count = counts.get(param) ?? 0;
    counts.set(param, count + 1);
    return count;
  };
}

/** The argument of an operand: for those of a variadic parameter the one at its place. */
function argumentAt(wanted: Wanted, place: number): WantedTensor | number | boolean | undefined {
  if (typeof wanted !== "object" || isWantedTensor(wanted)) return wanted;
  return wanted[place] ?? wanted[0];
}

function operandOf(
  type: OperandTypeName,
  wanted: WantedTensor | number | boolean | undefined,
  random: Random,
  fill: Fill,
): Tensor | undefined {
  if (wanted === undefined) return undefined;
  return typeof wanted === "object" ? drawTensor(type, wanted, random, fill) : scalarTensor(type, wanted);
}
