/** Mutations of an operand's fields: its type, rank, scale, zero point and extra parameters. */
import {
  canonicalHalVersion,
  type Operand,
  type OperandExtraParams,
  OperandTypeRange,
  type OperandTypeRow,
  operandTypeNames,
  operandTypes,
} from "@nnhal/types";
import { invalid, type ModelMutation, type Mutant } from "./mutation.ts";
import { isConstant, nowhere, operandSites, withOperand } from "./site.ts";

/** One code beyond each end of the HAL's own types. Minus one is, unsigned, the greatest code of an extension's type. */
const wrongTypes = [
  0xffff_ffff,
  OperandTypeRange.FUNDAMENTAL_MAX[canonicalHalVersion] + 1,
  OperandTypeRange.OEM_MIN - 1,
  OperandTypeRange.OEM_MAX + 1,
];

export const operandType: ModelMutation = {
  name: "operandType",
  says: "An operand has a type that the HAL does not know.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      // The prefix of the code beyond the HAL's own types belongs to no extension of the model.
      for (const type of wrongTypes) yield invalid(`${site.label} has type ${type}`, withOperand(site, { type }));
    }
  },
};

/** Returns the facts of the operand's type; undefined for an extension's, and for the OEM's, which can be anything. */
function rowOf({ type }: Operand): OperandTypeRow | undefined {
  const name = operandTypeNames.get(type);
  return name === undefined || name === "OEM" || name === "TENSOR_OEM_BYTE" ? undefined : operandTypes[name];
}

export const operandRank: ModelMutation = {
  name: "operandRank",
  says: "A scalar has a dimension, or a constant tensor has none.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const row = rowOf(site.operand);
      if (row !== undefined && row.kind !== "tensor") {
        yield invalid(`${site.label} is a scalar with dimensions [0]`, withOperand(site, { dimensions: [0] }));
      } else if (row !== undefined && isConstant(site.operand)) {
        const location = { ...site.operand.location, length: 0 };
        yield invalid(`${site.label} is a constant of unknown rank`, withOperand(site, { dimensions: [], location }));
      }
    }
  },
};

const wrongScales: Readonly<Record<OperandTypeRow["quantisation"], number>> = {
  none: 1,
  perChannel: 1,
  bias: -1,
  asymmetric: 0,
  symmetric: 0,
};

export const operandScale: ModelMutation = {
  name: "operandScale",
  says: "An operand has a scale that its type does not allow.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const row = rowOf(site.operand);
      if (row === undefined) continue;
      const scale = wrongScales[row.quantisation];
      yield invalid(`${site.label} has scale ${scale}`, withOperand(site, { scale }));
    }
  },
};

/**
 * Returns zero points on both sides of the range of the elements, and of 0 for a symmetric type, whose zero point can only be
 * 0.
 */
function wrongZeroPoints({ zeroPointRange, quantisation, elementSize }: OperandTypeRow): readonly number[] {
  if (zeroPointRange !== undefined) return [zeroPointRange[0] - 1, zeroPointRange[1] + 1];
  if (quantisation !== "symmetric") return [1];
  const half = 2 ** (8 * elementSize - 1);
  return [-half - 1, -1, 1, half];
}

export const operandZeroPoint: ModelMutation = {
  name: "operandZeroPoint",
  says: "An operand has a zero point that its type does not allow.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const row = rowOf(site.operand);
      if (row === undefined) continue;
      for (const zeroPoint of wrongZeroPoints(row)) {
        yield invalid(`${site.label} has zeroPoint ${zeroPoint}`, withOperand(site, { zeroPoint }));
      }
    }
  },
};

export const operandExtraParams: ModelMutation = {
  name: "operandExtraParams",
  says: "An operand has extra parameters that its type does not allow, or wrong scales for its channels.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const { operand, label } = site;
      const row = rowOf(operand);
      if (row === undefined) continue;
      const mutant = (name: string, changes: Partial<Operand>): Mutant =>
        invalid(`${label} ${name}`, withOperand(site, changes));
      const extension: OperandExtraParams = { kind: "extension", extension: Uint8Array.of(1) };
      yield mutant("has an extension's extraParams", { extraParams: extension });
      if (row.quantisation !== "perChannel") {
        yield mutant("has scales for channels", { extraParams: channelScales([1], 0) });
        continue;
      }
      yield mutant("has no scales for channels", { extraParams: { kind: "none" } });
      if (operand.extraParams.kind !== "channelQuant") continue;
      const { scales, channelDim } = operand.extraParams.channelQuant;
      for (const [name, wrong, dimension] of [
        ["has one scale too few", scales.slice(1), channelDim],
        ["has one scale too many", [...scales, 1], channelDim],
        ["has a scale of 0", [0, ...scales.slice(1)], channelDim],
        ["has a scale of -1", [...scales.slice(0, -1), -1], channelDim],
        ["has channelDim beyond its dimensions", scales, operand.dimensions.length],
      ] as const) {
        yield mutant(name, { extraParams: channelScales(wrong, dimension) });
      }
      const dimensions = operand.dimensions.with(channelDim, 0);
      const location = isConstant(operand) ? { ...operand.location, length: 0 } : nowhere;
      yield mutant("has an unknown number of channels", {
        dimensions,
        location,
        extraParams: channelScales([], channelDim),
      });
    }
  },
};

function channelScales(scales: readonly number[], channelDim: number): OperandExtraParams {
  return { kind: "channelQuant", channelQuant: { scales, channelDim } };
}
