/** Matrices of several operands as one, so that one product computes with all of them. */
import type { KernelTensor } from "@nnhal/backend";
import { createData, elementCount, stridesOf } from "@nnhal/operations";
import { addMove, type Builder, constantData, elementTypeOf, operandOf } from "./builder.ts";
import { valueAsTensor } from "./windows.ts";

/** Matrices one below the other (axis 0), or side by side (axis 1). They have one type and one zero point; constants stay constant. */
export function joinMatrices(builder: Builder, parts: readonly KernelTensor[], axis: 0 | 1): KernelTensor {
  const [first] = parts;
  if (first === undefined) throw new TypeError("there are no matrices");
  const extents = [0, 1].map((each) => {
    const own = parts.map(({ dimensions }) => dimensions[each] ?? 1);
    return each === axis ? own.reduce((sum, extent) => sum + extent) : (own[0] ?? 1);
  });
  const [rowStep = 1] = stridesOf(extents);
  const step = axis === 0 ? rowStep : 1;
  let from = 0;
  const starts = parts.map(({ dimensions }) => {
    const start = from * step;
    from += dimensions[axis] ?? 1;
    return start;
  });
  const elements = parts.map(({ data }) => data);
  if (first.data !== undefined && !elements.includes(undefined)) {
    const before = builder.joined.get(first.data) ?? [];
    const same = before.find(
      (each) => each.axis === axis && each.parts.every((data, place) => data === elements[place]),
    );
    if (same !== undefined) return same.tensor;
    const joined = createData(first.type, elementCount(extents));
    for (const [place, { dimensions, data }] of parts.entries()) {
      const [rows = 1, columns = 1] = dimensions;
      for (let row = 0; row < rows; row++) {
        const start = (starts[place] ?? 0) + row * rowStep;
        if (data !== undefined) joined.set(data.subarray(row * columns, (row + 1) * columns), start);
      }
    }
    // It is another operand than the first one.
    const region = builder.constant(constantData(first.index, joined));
    const value = { region, type: elementTypeOf(first.type), dimensions: extents };
    const tensor = { ...valueAsTensor(builder, first, value), data: joined };
    builder.joined.set(first.data, [...before, { axis, parts: elements, tensor }]);
    return tensor;
  }
  const joined = builder.value(builder.read(first).type, extents);
  for (const [place, part] of parts.entries()) {
    const source = operandOf(builder.read(part), stridesOf(part.dimensions));
    addMove(builder, "join", part.dimensions, source, operandOf(joined, [rowStep, 1], starts[place]));
  }
  return valueAsTensor(builder, first, joined);
}
