/**
 * Operands as the rules of operations see them, with the values of constants, which decide some HAL versions.
 */
import { copyTensorData, elementCount, type OperandInfo, type TensorData } from "@nnhal/operations";
import { type Model, type Operand, type OperandTypeName, operandTypeNames } from "@nnhal/types";
import { constantBytes, nonExtensionOperandSizeOfData } from "@nnhal/utils";

/** An operand, whose elements are decoded when they are first read; undefined if its type is an extension's. */
export function operandInfo(operand: Operand, model: Model): OperandInfo | undefined {
  const type = operandTypeNames.get(operand.type);
  if (type === undefined) return undefined;
  const { dimensions, scale, zeroPoint, extraParams } = operand;
  let data: TensorData | undefined;
  return {
    type,
    dimensions,
    scale,
    zeroPoint,
    ...(extraParams.kind === "channelQuant" && { channelQuant: extraParams.channelQuant }),
    get data(): TensorData | undefined {
      data ??= constantData(operand, type, model);
      return data;
    },
  };
}

/** The elements of a constant; undefined for other operands, and if they do not lie in this process's memory. */
function constantData(operand: Operand, type: OperandTypeName, model: Model): TensorData | undefined {
  const bytes = constantBytes(operand, model);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (bytes.length < nonExtensionOperandSizeOfData(operand.type, operand.dimensions)) return undefined;
  return copyTensorData(type, bytes, elementCount(operand.dimensions));
}
