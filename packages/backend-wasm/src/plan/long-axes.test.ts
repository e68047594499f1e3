/** Axes that a model declares and that are long: plans of them take neither time nor memory by their length. */
import { viewModel } from "@nnhal/backend";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { expect, it } from "vitest";
import { refusalOf } from "./plan-graph.ts";
import { segmentsOf } from "./windows.ts";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;

/** The cells that a window at each place sees, one place after the other. */
function cellsSeen(count: number, extent: number, cells: number, stride: number, dilation: number, padding: number) {
  return Array.from({ length: count }, (_, index) => {
    const taps = Array.from({ length: cells }, (__, tap) => index * stride - padding + tap * dilation);
    return taps.flatMap((pixel, tap) => (pixel >= 0 && pixel < extent ? [tap] : []));
  });
}

it("divides an axis where the cells that a window sees change", () => {
  const small = (least: number, most: number) => fc.integer({ min: least, max: most });
  const drawn = fc.tuple(small(0, 30), small(1, 20), small(1, 7), small(1, 4), small(1, 4), small(-6, 24));
  fc.assert(
    fc.property(drawn, (axis) => {
      const segments = segmentsOf(...axis);
      const seen = segments.flatMap(({ begin, end, firstTap, endTap }) =>
        Array.from({ length: end - begin }, () =>
          Array.from({ length: endTap - firstTap }, (_, place) => firstTap + place),
        ),
      );
      expect(seen).toEqual(cellsSeen(...axis));
    }),
    { numRuns: 2000 },
  );
});

it("divides a long axis without a look at each place", () => {
  const segments = segmentsOf(2 ** 30, 2 ** 30, 3, 1, 1, 1);
  expect(segments.map(({ begin, end }) => [begin, end])).toEqual([
    [0, 1],
    [1, 2 ** 30 - 1],
    [2 ** 30 - 1, 2 ** 30],
  ]);
  expect(() => segmentsOf(2 ** 30, 2 ** 30, 2 ** 20, 1, 1, 2 ** 19)).toThrow("more code than there may be");
});

it("refuses a resized image of which an axis would need a long table", () => {
  const height = 2 ** 29;
  const facts = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1 };
  const setting = (place: number) => ({
    type: OperandType.INT32,
    dimensions: [],
    lifetime: CONSTANT_COPY,
    location: { poolIndex: 0, offset: 4 * place, length: 4 },
  });
  const operands = [
    operand({ ...facts, dimensions: [1, 2, 2, 1], lifetime: SUBGRAPH_INPUT }),
    operand(setting(0)),
    operand(setting(1)),
    operand({ ...facts, dimensions: [1, height, 1, 1], lifetime: SUBGRAPH_OUTPUT }),
  ];
  const subgraph = subgraphOf(operands, [{ type: OperationType.RESIZE_BILINEAR, inputs: [0, 1, 2], outputs: [3] }]);
  const model = modelOf(subgraph, { operandValues: new Uint8Array(Int32Array.of(1, height).buffer) });
  const [view] = viewModel({ model, pools: [] }).operations;
  expect(view && refusalOf(view)).toBe("RESIZE_BILINEAR: an axis of 536870912 places is longer than 4194304");
});
