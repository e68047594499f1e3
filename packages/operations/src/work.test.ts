import { OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { defineOperation, type Operation } from "./define.ts";
import { operationByCode, operations } from "./index.ts";
import { int32, omittable, tensor, variadic } from "./params.ts";
import type { WorkKind } from "./work.ts";
import { workOf } from "./work-of.ts";

function findKnown(name: keyof typeof OperationType): Operation {
  const operation = operationByCode(OperationType[name]);
  if (operation === undefined) throw new TypeError(`${name} is not defined`);
  return operation;
}

const scalars = (count: number) => new Array<readonly number[]>(count).fill([]);

describe("workOf", () => {
  it("is one element for each that is read or written, if the definition says nothing else", () => {
    expect(findKnown("ABS").work).toBe("element");
    expect(workOf(findKnown("ABS"), [[2, 3]], [[2, 3]])).toEqual({ element: 12 });
  });

  it("is of the kind that a definition names", () => {
    expect(workOf(findKnown("TANH"), [[2, 3]], [[2, 3]])).toEqual({ functionElement: 12 });
  });

  it("is in elements for an operation that is not known", () => {
    expect(workOf(undefined, [[2], [3]], [[4]])).toEqual({ element: 9 });
  });

  it("counts unknown extents and scalars as 1", () => {
    expect(workOf(findKnown("ABS"), [[0, 3]], [[]])).toEqual({ element: 4 });
    const unknown = [[0, 0, 0, 0], [0, 0, 0, 0], [0], ...scalars(4)];
    expect(workOf(findKnown("CONV_2D"), unknown, [[]])).toEqual({ multiplyAdd: 1 });
    expect(workOf(findKnown("CONV_2D"), scalars(7), [[]])).toEqual({ multiplyAdd: 1 });
  });

  it.each(["CONV_2D", "GROUPED_CONV_2D"] as const)("of %s is a filter's weights for each output", (name) => {
    const list = [[1, 8, 8, 3], [16, 5, 5, 3], [16]];
    const counts = name === "CONV_2D" ? [4, 5, 7, 8, 10] : [6, 9];
    for (const count of counts) {
      const work = workOf(findKnown(name), [...list, ...scalars(count)], [[1, 8, 8, 16]]);
      expect(work).toEqual({ multiplyAdd: 8 * 8 * 16 * 5 * 5 * 3 });
    }
  });

  it("of TRANSPOSE_CONV_2D is the same in both forms, one of which has another tensor", () => {
    const list = [[1, 4, 4, 3], [2, 3, 3, 3], [2]];
    const work = { multiplyAdd: 8 * 8 * 2 * 27 };
    expect(workOf(findKnown("TRANSPOSE_CONV_2D"), [...list, ...scalars(8)], [[1, 8, 8, 2]])).toEqual(work);
    expect(workOf(findKnown("TRANSPOSE_CONV_2D"), [...list, [4], ...scalars(5)], [[1, 8, 8, 2]])).toEqual(work);
  });

  it("of FULLY_CONNECTED is a row of weights for each output", () => {
    expect(workOf(findKnown("FULLY_CONNECTED"), [[2, 10], [4, 10], [4], []], [[2, 4]])).toEqual({ multiplyAdd: 80 });
  });

  it("of DEPTHWISE_CONV_2D is a window for each output", () => {
    const work = workOf(
      findKnown("DEPTHWISE_CONV_2D"),
      [[1, 8, 8, 6], [1, 3, 3, 6], [6], ...scalars(5)],
      [[1, 8, 8, 6]],
    );
    expect(work).toEqual({ depthwiseMultiplyAdd: 8 * 8 * 6 * 9 });
  });

  it("of a recurrent operation is every matrix for each row, and a function of each result", () => {
    const operands = [[2, 7, 3], [5, 3], [5, 5], [5], [2, 5], [], []];
    // The state is a matrix, too.
    expect(workOf(findKnown("UNIDIRECTIONAL_SEQUENCE_RNN"), operands, [[2, 7, 5]])).toEqual({
      recurrentMultiplyAdd: 14 * (15 + 25 + 10),
      functionElement: 14 * (5 + 5 + 2),
    });
  });

  it("is in elements if the number of operands is not legal", () => {
    expect(workOf(findKnown("CONV_2D"), [[1, 2, 2, 1], [1, 1, 1, 1], [1]], [[1, 2, 2, 1]])).toEqual({ element: 10 });
  });

  it("is what the definition's function returns for operands by name", () => {
    const seen: unknown[] = [];
    const operation = defineOperation({
      name: "SEEN",
      code: 0x1_0001,
      summary: "Has operands of all sorts.",
      params: [tensor("first"), omittable(tensor("second")), variadic(tensor("rest")), int32("factor")],
      outputs: [tensor("output")],
      types: [["1.3", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
      work({ first, second, rest, factor }, { output }) {
        seen.push(first, second, rest, factor, output);
        // @ts-expect-error The operation has no such operand.
        return { multiplyAdd: first[0] * output[0], element: rest.length + (output.third ?? 0) };
      },
    });
    expect(workOf(operation, [[2], [0], [4], [5], []], [[7]])).toEqual({ multiplyAdd: 14, element: 2 });
    expect(seen).toEqual([[2], [1], [[4], [5]], [], [7]]);
  });
});

describe("the operations of the HAL", () => {
  it("that compute more than an element at a time say so", () => {
    const named = (kind: WorkKind) => operations.filter(({ work }) => work === kind).map(({ name }) => name);
    expect(named("functionElement").sort()).toEqual([
      "AVERAGE_POOL_2D",
      "ELU",
      "EXP",
      "INSTANCE_NORMALIZATION",
      "L2_NORMALIZATION",
      "L2_POOL_2D",
      "LOCAL_RESPONSE_NORMALIZATION",
      "LOG",
      "LOGISTIC",
      "LOG_SOFTMAX",
      "MAX_POOL_2D",
      "POW",
      "RESIZE_BILINEAR",
      "RSQRT",
      "SIN",
      "SOFTMAX",
      "SQRT",
      "TANH",
    ]);
    const computed = operations.filter(({ work }) => typeof work === "function").map(({ name }) => name);
    expect(computed.sort()).toEqual([
      "BATCH_MATMUL",
      "BIDIRECTIONAL_SEQUENCE_LSTM",
      "BIDIRECTIONAL_SEQUENCE_RNN",
      "CONV_2D",
      "DEPTHWISE_CONV_2D",
      "FULLY_CONNECTED",
      "GROUPED_CONV_2D",
      "LSTM",
      "QUANTIZED_16BIT_LSTM",
      "QUANTIZED_LSTM",
      "RNN",
      "SVDF",
      "TRANSPOSE_CONV_2D",
      "UNIDIRECTIONAL_SEQUENCE_LSTM",
      "UNIDIRECTIONAL_SEQUENCE_RNN",
    ]);
  });
});
