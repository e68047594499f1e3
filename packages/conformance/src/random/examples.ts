/**
 * Random operations as examples: models of one operation with inputs and with the results of the reference kernel, or
 * wrong ones that a device must refuse.
 */
import { encodeTensorData } from "@nnhal/backend";
import {
  byteLength,
  elementAt,
  halTypeName,
  isTensorType,
  matchOperation,
  type Operation,
  type OutputTensor,
  operations,
  requiredVersion,
  type Tensor,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { operandTypes, operationTypeNames } from "@nnhal/types";
import type { Allowance, Example, ExampleOperand } from "../vectors/example.ts";
import { drawOperation, type RandomOperation } from "./draw.ts";
import { createRandom, type Random } from "./random.ts";
import { type RandomOutcome, runRandomOperation } from "./run.ts";
import { signaturesOf } from "./signature.ts";

/** Options of randomExamples. */
export interface RandomExamplesOptions {
  /** Default 1. */
  readonly seed?: number | undefined;
  /**
   * The number of cases that are drawn for each operation. Default 100. Not all of them can be models: see `exampleOf`.
   */
  readonly count?: number | undefined;
  /** The operations. Default: those of the HAL that have a kernel. */
  readonly operations?: readonly Operation[] | undefined;
}

/** Draws random examples: for each operation all its signatures in turn. */
export function* randomExamples(options: RandomExamplesOptions = {}): Generator<Example> {
  for (const { random, operation, name } of drawAll(options)) {
    const example = exampleOf(operation, name, random, runRandomOperation(operation, random));
    if (example !== undefined) yield example;
  }
}

/** A drawn case. */
export interface Drawn {
  /** `random/ADD/17`. The same seed gives the same case. */
  readonly name: string;
  readonly operation: RandomOperation;
  /** The random numbers of the case that are not used yet. */
  readonly random: Random;
}

/** Draws random operations. */
export function* drawAll(options: RandomExamplesOptions): Generator<Drawn> {
  const { seed = 1, count = 100, operations: chosen = kernelOperations() } = options;
  for (const definition of chosen) {
    const signatures = signaturesOf(definition);
    for (let index = 0; index < count; index++) {
      const random = createRandom(seed * 0x1_0001 + definition.code * 0x101 + index * 0x3_ffff);
      const operation = drawOperation(elementAt(signatures, index % signatures.length), random);
      yield { name: `random/${definition.name}/${index}`, operation, random };
    }
  }
}

/** The operations of the HAL except IF and WHILE. */
export function kernelOperations(): readonly Operation[] {
  return operations.filter(({ controlFlow }) => !controlFlow);
}

/**
 * The model of a random operation; undefined if a model cannot express it (an extent of 0 means unknown in a model, and
 * an operand that must not be omitted has a value), or if its result is too large or takes too long. `allowanceOf`: how far a
 * result may be off; without it the HAL's own allowance applies, and outputs with a NaN or an infinity are not compared.
 */
export function exampleOf(
  operation: RandomOperation,
  name: string,
  random: Random,
  outcome: RandomOutcome,
  allowanceOf?: (output: OutputTensor) => Allowance,
): Example | undefined {
  const { signature, inputs, outputs: declared } = operation;
  if (inputs.some((input, position) => !canStand(input, elementAt(signature.inputs, position).omittable)))
    return undefined;
  const type = operationTypeNames.get(signature.operation.code);
  if (type === undefined || outcome.kind === "large" || outcome.kind === "long") return undefined;
  const isComputed = outcome.kind === "computed";
  const operands = [
    ...inputs.map((input, position) =>
      inputOperand(input, signature.types.get(elementAt(signature.inputs, position)), random),
    ),
    ...(isComputed
      ? outcome.outputs.map((output) => outputOperand(output, signature.operation.random, allowanceOf?.(output)))
      : declared.map((output) => outputOperand(output, signature.operation.random, undefined))),
  ];
  const indexesOf = (lifetime: ExampleOperand["lifetime"]) =>
    operands.flatMap((operand, index) => (operand.lifetime === lifetime ? [index] : []));
  const match = matchOperation(signature.operation, operands.slice(0, inputs.length).map(typeOf), declared.map(typeOf));
  return {
    name,
    spec: `random/${signature.operation.name}`,
    ...(!("mismatch" in match) && { minSupportedVersion: requiredVersion(match, inputs, declared) }),
    isRelaxed: false,
    expectFailure: !isComputed,
    expectedMultinomialDistributionTolerance: 0,
    main: {
      inputIndexes: indexesOf("SUBGRAPH_INPUT"),
      outputIndexes: indexesOf("SUBGRAPH_OUTPUT"),
      operations: [
        {
          type,
          inputs: inputs.map((_, index) => index),
          outputs: declared.map((_, index) => inputs.length + index),
        },
      ],
      operands,
    },
    referenced: [],
  };
}

function typeOf({ type }: { readonly type: Tensor["type"] }): Tensor["type"] {
  return type;
}

function canStand(input: Tensor | undefined, omittable: boolean | undefined): boolean {
  return input === undefined ? omittable === true : !input.dimensions.includes(0);
}

function inputOperand(input: Tensor | undefined, type: Tensor["type"] | undefined, random: Random): ExampleOperand {
  if (input === undefined) {
    if (type === undefined) throw new TypeError("an omitted operand has no type");
    return {
      ...noOperand,
      type: halTypeName(type),
      ...quantisationOfOmitted(type),
      numberOfConsumers: 1,
      lifetime: "NO_VALUE",
    };
  }
  const { data: _, type: own, channelQuant = null, ...info } = input;
  const lifetimes = ["SUBGRAPH_INPUT", "CONSTANT_COPY", "CONSTANT_REFERENCE"] as const;
  const lifetime = isTensorType(input.type) ? random.pick(lifetimes) : "CONSTANT_COPY";
  return {
    ...info,
    type: halTypeName(own),
    channelQuant,
    lifetime,
    numberOfConsumers: 1,
    isIgnored: false,
    data: bytesOf(input),
  };
}

/** The quantisation of an omitted operand must fit its type, too. */
export function quantisationOfOmitted(type: Tensor["type"]): Pick<ExampleOperand, "scale" | "channelQuant"> {
  const { quantisation } = operandTypes[halTypeName(type)];
  const channelQuant = quantisation === "perChannel" ? { scales: [1], channelDim: 0 } : null;
  return { scale: quantisation === "asymmetric" || quantisation === "symmetric" ? 1 : 0, channelQuant };
}

/** An operand without a value; its type and its lifetime are missing. */
export const noOperand = {
  dimensions: [],
  scale: 0,
  zeroPoint: 0,
  numberOfConsumers: 0,
  channelQuant: null,
  isIgnored: false,
  data: null,
} as const;

/** Results without a known error bound are not compared, nor are those that are drawn at random. */
function outputOperand(
  output: TensorInfo & { readonly data?: TensorData },
  isRandom: boolean,
  allowance: Allowance | undefined,
): ExampleOperand {
  const { data, channelQuant: _, ...info } = output;
  const isIgnored = isRandom || (allowance === undefined && !data?.every(Number.isFinite));
  const bytes = data === undefined || data.length === 0 ? null : bytesOf({ ...info, data });
  return {
    ...noOperand,
    ...info,
    type: halTypeName(info.type),
    lifetime: "SUBGRAPH_OUTPUT",
    isIgnored,
    data: bytes,
    ...(allowance && { allowance }),
  };
}

/** The bytes of a tensor as examples state them. */
export function bytesOf({ type, data }: Pick<Tensor, "type" | "data">): Uint8Array {
  const bytes = new Uint8Array(byteLength(type, data.length));
  encodeTensorData(type, data, bytes);
  return bytes;
}
