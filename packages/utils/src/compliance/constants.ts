/**
 * Operands as the rules of operations see them, with the values of constants, which decide some HAL versions.
 */
import { createData, elementCount, fromFloat16Bits, type OperandInfo, type TensorData } from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, type OperandTypeName, operandTypeNames } from "@nnhal/types";
import { nonExtensionOperandSizeOfData } from "../operand.ts";

/** An operand, whose elements are decoded when they are first read; undefined: its type is an extension's. */
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
    get data() {
      data ??= constantData(operand, type, model);
      return data;
    },
  };
}

/** The elements of a constant; undefined for other operands, and where they do not lie in this process's memory. */
function constantData(operand: Operand, type: OperandTypeName, model: Model): TensorData | undefined {
  const bytes = constantBytes(operand, model);
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (bytes.length < nonExtensionOperandSizeOfData(operand.type, operand.dimensions)) return undefined;
  const data = createData(type, elementCount(operand.dimensions));
  if (type === "FLOAT16" || type === "TENSOR_FLOAT16") {
    for (let index = 0; index < data.length; index++) {
      data[index] = fromFloat16Bits(bytes[2 * index] | (bytes[2 * index + 1] << 8));
    }
  } else new Uint8Array(data.buffer).set(bytes.subarray(0, data.byteLength));
  return data;
}

function constantBytes({ lifetime, location }: Operand, { operandValues, pools }: Model): Uint8Array | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return operandValues.subarray(offset, offset + length);
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  const handle = pools[poolIndex]?.handle;
  if (handle?.kind !== "buffer" || handle.byteOffset + offset + length > handle.buffer.byteLength) return undefined;
  return new Uint8Array(handle.buffer, handle.byteOffset + offset, length);
}
