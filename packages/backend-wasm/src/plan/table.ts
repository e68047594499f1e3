/** Steps that look bytes up in tables. */
import type { KernelTensor } from "@nnhal/backend";
import { clamp, integerRange, roundHalfAway, type TensorInfo } from "@nnhal/operations";
import type { Builder, Value } from "./builder.ts";
import { isQuant8 } from "./lowering.ts";
import { elementBytes, TABLE_UNIT } from "./plan.ts";

/** Adds a step that looks up each byte. */
export function addTable(
  builder: Builder,
  name: string,
  source: Value,
  target: Value,
  table: Uint8Array | Int32Array,
): void {
  const count = source.dimensions.reduce((product, extent) => product * extent, elementBytes[source.type]);
  if (count === 0) return;
  builder.add({
    kind: "table",
    name,
    source: source.region,
    target: target.region,
    count,
    table: builder.constant(table),
    bytes: table.BYTES_PER_ELEMENT === 4 ? 4 : 1,
    units: Math.ceil(count / TABLE_UNIT),
    work: 4 * Math.min(count, TABLE_UNIT),
  });
}

/** A tensor in the scale and zero point of another one, as the reference requantises. */
export function requantiseTensor(builder: Builder, tensor: KernelTensor, target: TensorInfo): Value {
  const value = builder.read(tensor);
  const { scale, zeroPoint } = tensor;
  if (!isQuant8(tensor) || (scale === target.scale && zeroPoint === target.zeroPoint)) return value;
  const result = builder.value(value.type, tensor.dimensions);
  const [least, greatest] = integerRange(tensor.type);
  const ratio = scale / target.scale;
  const table = Uint8Array.from({ length: 256 }, (_, byte) => {
    const element = least < 0 ? (byte << 24) >> 24 : byte;
    return clamp(roundHalfAway((element - zeroPoint) * ratio) + target.zeroPoint, least, greatest);
  });
  addTable(builder, "requantise", value, result, table);
  return result;
}
