/**
 * The mutation that gives an operand another type, as plausibly as possible: all other fields of the operand fit the new type,
 * so that only the operation that uses it can find the fault.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  type OperandExtraParams,
  OperandType,
  type OperandTypeName,
  type OperandTypeRow,
  operandTypeNames,
  operandTypes,
} from "@nnhal/types";
import { GREATEST_CONSTANT, placeConstant, sizeOf } from "./constant.ts";
import { typeExemption } from "./exemptions.ts";
import { invalid, type ModelMutation } from "./mutation.ts";
import { isConstant, type OperandSite, operandSites, usesOf, withOperand } from "./site.ts";

/** The types of the HAL; the types of an OEM are not defined. */
const types = [...operandTypeNames.values()].filter((name) => name !== "OEM" && name !== "TENSOR_OEM_BYTE");

export const operationOperandType: ModelMutation = {
  name: "operationOperandType",
  says: "An operand is of a type that the operations which use it do not take.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const uses = usesOf(site);
      for (const type of types) {
        if (OperandType[type] === site.operand.type) continue;
        yield invalid(
          `${site.label} is a ${type}`,
          retype(site, type),
          typeExemption(uses, operandTypeNames.get(site.operand.type), type),
        );
      }
    }
  },
};

/** Returns the model with another type for the operand. */
function retype(site: OperandSite, type: OperandTypeName): Model {
  const changed = plausible(site.operand, type);
  if (!isConstant(changed)) return withOperand(site, changed);
  const { length } = changed.location;
  const size = sizeOf(changed);
  if (size === length || size === 0 || size > GREATEST_CONSTANT) return withOperand(site, changed);
  const placed = placeConstant(site.model, changed);
  if (typeof placed === "string") return withOperand(site, changed);
  const { operandValues, lifetime, location } = placed;
  return { ...withOperand(site, { ...changed, lifetime, location }), operandValues };
}

/** The operand with dimensions, quantisation and extraParams that the type allows, as near to its own as can be. */
function plausible(operand: Operand, name: OperandTypeName): Operand {
  const { kind, quantisation, zeroPointRange }: OperandTypeRow = operandTypes[name];
  const dimensions = kind !== "tensor" ? [] : operand.dimensions.length > 0 ? operand.dimensions : [1];
  const isQuantised = quantisation === "asymmetric" || quantisation === "symmetric";
  const [least, greatest] = zeroPointRange ?? [0, 0];
  return {
    ...operand,
    type: OperandType[name],
    dimensions,
    scale: isQuantised ? operand.scale || 1 : quantisation === "bias" ? operand.scale : 0,
    zeroPoint: Math.min(Math.max(operand.zeroPoint, least), greatest),
    extraParams: quantisation === "perChannel" ? scalesFor(dimensions) : { kind: "none" },
  };
}

function scalesFor(dimensions: readonly number[]): OperandExtraParams {
  const count = Math.min(elementAt(dimensions, 0), GREATEST_CONSTANT);
  return { kind: "channelQuant", channelQuant: { scales: new Array<number>(count).fill(1), channelDim: 0 } };
}
