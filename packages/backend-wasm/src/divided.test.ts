/** Long units of steps are divided, with the same results: so no call into a module takes long. */

import { existsSync } from "node:fs";
import { viewModel } from "@nnhal/backend";
import { findVectorFiles, randomExamples, readVectorFiles, runVectors, summarise } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { vectorsFolder } from "@nnhal/test-kit/folders";
import { operand } from "@nnhal/test-kit/models";
import { bool, int32, list, operationModel } from "@nnhal/test-kit/operation-models";
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  type OperationTypeName,
  Priority,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { makePlan } from "./plan/make-plan.ts";
import { functionsOf, isLong } from "./plan/plan.ts";
import { refusalOf } from "./plan/plan-graph.ts";
import { wasmBackendOver } from "./wasm-backend.ts";
import { webAssembly } from "./web-assembly.ts";

const { FLOAT32, TENSOR_BOOL8, TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM } = OperandType;

/** The device with units of about so much work. */
async function deviceWith(mostWork: number): Promise<Device> {
  const device = await openDevice({ backend: wasmBackendOver(webAssembly(), {}, mostWork) });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** A model with these outputs in the place of its output. */
function withOutputs({ main, ...model }: Model, outputs: readonly object[]): Model {
  const operands = [
    ...main.operands.slice(0, -1),
    ...outputs.map((facts) => operand({ ...facts, lifetime: OperandLifeTime.SUBGRAPH_OUTPUT })),
  ];
  const outputIndexes = outputs.map((_, place) => main.operands.length - 1 + place);
  const operations = main.operations.map((operation) => ({ ...operation, outputs: outputIndexes }));
  return { ...model, main: { ...main, operands, operations, outputIndexes } };
}

describe("long units", { timeout: 240_000 }, () => {
  it.each([16, 300, 5000])("have the same results in parts of about %i steps", async (mostWork) => {
    const { failures, passed } = await summarise(
      runVectors(await deviceWith(mostWork), randomExamples({ count: 8, seed: mostWork })),
    );
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
    expect(passed).toBeGreaterThan(100);
  });

  it.each([16, 1000])("have the results of vectors in parts of about %i steps", async (mostWork) => {
    if (!existsSync(vectorsFolder)) return;
    let count = 0;
    const filter = () => count++ % 32 === 0;
    const vectors = readVectorFiles(await findVectorFiles(vectorsFolder));
    const { failures } = await summarise(runVectors(await deviceWith(mostWork), vectors, { filter }));
    expect(failures.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  });

  it("pause within one unit, where the deadline is looked at, and begin anew in the next run", async () => {
    const model = operationModel(OperationType.ARGMAX, [f32(2, 3000), int32(1)], i32(2));
    const graph = viewModel({ model, pools: [] });
    const session = await wasmBackendOver(webAssembly(), {}, 1000).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
    const executable = await session.compile(graph, options);
    const numbers = Float32Array.from(
      { length: 6000 },
      (_, place) => -Math.abs(place - 2500) - (place > 3000 ? place : 0),
    );
    const places = new Int32Array(2);
    let looks = 0;
    const run = (deadline?: bigint) => {
      looks = 0;
      const input = { bytes: new Uint8Array(numbers.buffer), dimensions: [2, 3000] };
      const output = { bytes: new Uint8Array(places.buffer), dimensions: [2] };
      const now = () => BigInt(looks++);
      const context = { now, loopTimeoutDuration: 1n, measure: false, random: () => 0, ...(deadline && { deadline }) };
      return executable.run([input], [output], context);
    };
    expect(await run()).toMatchObject({ status: ErrorStatus.NONE });
    expect([...places]).toEqual([2500, 0]);
    const all = looks;
    expect(all).toBeGreaterThan(20);
    expect(await run(BigInt(all >> 1))).not.toMatchObject({ status: ErrorStatus.NONE });
    expect(looks).toBeLessThan(all);
    places.fill(0);
    expect(await run()).toMatchObject({ status: ErrorStatus.NONE });
    expect([...places]).toEqual([2500, 0]);
    executable.close();
  });
});

const f32 = (...dimensions: number[]) => ({ type: TENSOR_FLOAT32, dimensions });
const u8 = (...dimensions: number[]) => ({ type: TENSOR_QUANT8_ASYMM, dimensions, scale: 0.5, zeroPoint: 3 });
const i32 = (...dimensions: number[]) => ({ type: TENSOR_INT32, dimensions });
const real = (value: number) => ({
  constant: [new Int32Array(Float32Array.of(value).buffer)[0] ?? 0],
  facts: { type: FLOAT32 },
});
const ints = (...values: number[]) => values.map(int32);

type Given = Parameters<typeof operationModel>[1];
type Facts = Parameters<typeof operationModel>[2];

/** Operations with as long a unit as tensors of 64 to 256 MB allow, of several kinds: inputs, and results. */
const longest: readonly (readonly [name: OperationTypeName, inputs: Given, ...results: Facts[]])[] = [
  // One window over the whole image, one column of an image, one row, many channels.
  ["AVERAGE_POOL_2D", [f32(1, 1024, 1024, 64), ...ints(0, 0, 0, 0, 1, 1, 1024, 1024, 0)], f32(1, 1, 1, 64)],
  ["AVERAGE_POOL_2D", [u8(1, 250, 250, 4096), ...ints(0, 0, 0, 0, 1, 1, 250, 250, 0)], u8(1, 1, 1, 4096)],
  ["MAX_POOL_2D", [f32(1, 1024, 1024, 64), ...ints(0, 0, 0, 0, 1, 1, 1024, 1024, 0)], f32(1, 1, 1, 64)],
  ["MAX_POOL_2D", [u8(1, 1, 2 ** 26, 1), ...ints(0, 0, 0, 0, 1, 1, 2 ** 26, 1, 0)], u8(1, 1, 1, 1)],
  ["L2_POOL_2D", [f32(1, 1, 2 ** 20, 64), ...ints(0, 0, 0, 0, 1, 1, 3, 1, 0)], f32(1, 1, 2 ** 20 - 2, 64)],
  ["L2_POOL_2D", [f32(1, 1, 1, 2 ** 26), ...ints(0, 0, 0, 0, 1, 1, 1, 1, 0)], f32(1, 1, 1, 2 ** 26)],
  ["MAX_POOL_2D", [u8(1, 2048, 2048, 16), ...ints(0, 0, 0, 0, 1, 1, 1024, 1024, 0)], u8(1, 1025, 1025, 16)],
  ["RESIZE_BILINEAR", [f32(1, 1, 2, 64), ...ints(2 ** 20, 1)], f32(1, 1, 2 ** 20, 64)],
  ["RESIZE_NEAREST_NEIGHBOR", [u8(1, 1, 1, 2 ** 26), ...ints(1, 1), bool(false)], u8(1, 1, 1, 2 ** 26)],
  [
    "DEPTHWISE_CONV_2D",
    [f32(1, 3, 2 ** 20, 16), f32(1, 3, 3, 16), f32(16), ...ints(2, 1, 1, 1, 0)],
    f32(1, 1, 2 ** 20 - 2, 16),
  ],
  [
    "DEPTHWISE_CONV_2D",
    [f32(1, 1, 1, 2 ** 25), f32(1, 1, 1, 2 ** 25), f32(2 ** 25), ...ints(2, 1, 1, 1, 0)],
    f32(1, 1, 1, 2 ** 25),
  ],
  ["CONV_2D", [f32(1, 1, 2 ** 20, 16), f32(8, 1, 3, 16), f32(8), ...ints(2, 1, 1, 0)], f32(1, 1, 2 ** 20 - 2, 8)],
  ["FULLY_CONNECTED", [f32(1, 2 ** 25), f32(2, 2 ** 25), f32(2), ...ints(0)], f32(1, 2)],
  ["FULLY_CONNECTED", [f32(1, 2 ** 13), f32(2 ** 13, 2 ** 13), f32(2 ** 13), ...ints(0)], f32(1, 2 ** 13)],
  ["CONV_2D", [f32(1, 2048, 2048, 8), f32(2, 2048, 2048, 8), f32(2), ...ints(2, 1, 1, 0)], f32(1, 1, 1, 2)],
  // One long row, one long column, all.
  ...(
    [
      [1, 2 ** 26],
      [2 ** 25, 2],
    ] as const
  ).flatMap(([rows, length]) => [
    ["SOFTMAX", [f32(rows, length), real(1)], f32(rows, length)] as const,
    ["LOG_SOFTMAX", [f32(rows, length), real(1), int32(0)], f32(rows, length)] as const,
    ["L2_NORMALIZATION", [f32(rows, length), int32(0)], f32(rows, length)] as const,
    ["L2_NORMALIZATION", [f32(rows, length), int32(1)], f32(rows, length)] as const,
    ["ARGMAX", [f32(rows, length), int32(0)], i32(length)] as const,
    ["ARGMIN", [f32(rows, length), int32(1)], i32(rows)] as const,
    ["MEAN", [f32(rows, length), list([0, 1]), int32(0)], f32(1)] as const,
    ["REDUCE_SUM", [f32(rows, length), list([1]), bool(false)], f32(rows)] as const,
    ["REDUCE_MAX", [u8(rows, length), list([0]), bool(false)], u8(length)] as const,
    ["REDUCE_MIN", [u8(rows, length), list([0, 1]), bool(false)], u8(1)] as const,
    ["REDUCE_PROD", [f32(rows, length), list([0]), bool(false)], f32(length)] as const,
    [
      "REDUCE_ANY",
      [{ type: TENSOR_BOOL8, dimensions: [rows, length] }, list([0, 1]), bool(false)],
      { type: TENSOR_BOOL8, dimensions: [1] },
    ] as const,
    ["TRANSPOSE", [f32(rows, length), list([1, 0])], f32(length, rows)] as const,
    ["ADD", [f32(rows, length), f32(rows, 1), int32(0)], f32(rows, length)] as const,
    ["PRELU", [f32(1, 1, rows, length), f32(1, 1, length)], f32(1, 1, rows, length)] as const,
    ["POW", [f32(rows, length), f32(rows, 1)], f32(rows, length)] as const,
    ["GATHER", [f32(rows, length), int32(0), i32(1)], f32(1, length)] as const,
    ["GATHER", [u8(rows, length), int32(1), i32(1)], u8(rows, 1)] as const,
    ["TILE", [u8(rows, length), list([1, 2])], u8(rows, 2 * length)] as const,
    ["CONCATENATION", [u8(rows, length), u8(rows, length), int32(0)], u8(2 * rows, length)] as const,
    ["PAD", [u8(rows, length), list([0, 0, 1, 1], [2, 2])], u8(rows, length + 2)] as const,
    ["SLICE", [u8(rows, length), list([0, 1]), list([rows, length - 1])], u8(rows, length - 1)] as const,
    ["REVERSE", [f32(rows, length), list([1])], f32(rows, length)] as const,
    ["TOPK_V2", [f32(rows, length), int32(1)], f32(rows, 1), i32(rows, 1)] as const,
  ]),
  ["TOPK_V2", [f32(1, 2 ** 26), int32(2 ** 25)], f32(1, 2 ** 25), i32(1, 2 ** 25)],
  [
    "LOCAL_RESPONSE_NORMALIZATION",
    [f32(1, 1, 1, 2 ** 26), int32(2), real(1), real(1), real(0.5)],
    f32(1, 1, 1, 2 ** 26),
  ],
  [
    "LOCAL_RESPONSE_NORMALIZATION",
    [f32(1, 1, 2, 2 ** 20), int32(2 ** 19), real(1), real(1), real(0.5)],
    f32(1, 1, 2, 2 ** 20),
  ],
  [
    "INSTANCE_NORMALIZATION",
    [f32(1, 2 ** 12, 2 ** 12, 4), real(1), real(0), real(0.001), bool(false)],
    f32(1, 2 ** 12, 2 ** 12, 4),
  ],
  [
    "INSTANCE_NORMALIZATION",
    [f32(1, 1, 2 ** 12, 2 ** 13), real(1), real(0), real(0.001), bool(true)],
    f32(1, 1, 2 ** 12, 2 ** 13),
  ],
  ["EMBEDDING_LOOKUP", [i32(1), f32(1, 2 ** 26)], f32(1, 2 ** 26)],
  [
    "HASHTABLE_LOOKUP",
    [i32(1), i32(2 ** 26), f32(2 ** 26, 1)],
    f32(1, 1),
    { type: TENSOR_QUANT8_ASYMM, dimensions: [1], scale: 1 },
  ],
  ["BATCH_MATMUL", [f32(1, 2 ** 25), f32(2 ** 25, 1), bool(false), bool(false)], f32(1, 1)],
  ["BATCH_MATMUL", [i32(1, 2 ** 25), i32(2 ** 25, 1), bool(false), bool(false)], i32(1, 1)],
  ["SPACE_TO_DEPTH", [f32(1, 2, 2 ** 24, 2), int32(2)], f32(1, 1, 2 ** 23, 8)],
  ["CHANNEL_SHUFFLE", [f32(1, 2 ** 26), int32(2 ** 13), int32(1)], f32(1, 2 ** 26)],
  [
    "RNN",
    [f32(1, 2 ** 12), f32(2 ** 13, 2 ** 12), f32(2 ** 13, 2 ** 13), f32(2 ** 13), f32(1, 2 ** 13), int32(0)],
    f32(1, 2 ** 13),
    f32(1, 2 ** 13),
  ],
  [
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    [
      f32(1, 4, 2 ** 12),
      f32(2 ** 13, 2 ** 12),
      f32(2 ** 13, 2 ** 13),
      f32(2 ** 13),
      f32(1, 2 ** 13),
      int32(0),
      int32(0),
    ],
    f32(1, 4, 2 ** 13),
  ],
  [
    "SVDF",
    [f32(1, 2 ** 12), f32(2 ** 13, 2 ** 12), f32(2 ** 13, 2 ** 10), f32(2 ** 13), f32(1, 2 ** 23), int32(1), int32(0)],
    f32(1, 2 ** 23),
    f32(1, 2 ** 13),
  ],
  ["HEATMAP_MAX_KEYPOINT", [f32(1, 4096, 4096, 1), f32(1, 4), bool(false)], f32(1, 1), f32(1, 1, 2)],
  [
    "ROI_POOLING",
    [f32(1, 1024, 1024, 64), f32(1, 4), i32(1), ...ints(1, 1), real(1), real(1), bool(false)],
    f32(1, 1, 1, 64),
  ],
  [
    "ROI_ALIGN",
    [f32(1, 1024, 1024, 64), f32(1, 4), i32(1), ...ints(1, 1), real(1), real(1), int32(0), int32(0), bool(false)],
    f32(1, 1, 1, 64),
  ],
];

it.each(longest.map(([name, inputs, ...results]) => ({ name, inputs, results })))(
  "$name has no unit that takes long",
  async ({ name, inputs, results }) => {
    const model = withOutputs(operationModel(OperationType[name], inputs, {}), results);
    const graph = viewModel({ model, pools: [] });
    expect(graph.operations.map((view) => refusalOf(view))).toEqual([undefined]);
    const extents = graph.inputs.map((index) => graph.operands[index]?.dimensions);
    const { steps } = await makePlan(graph, extents);
    const long = functionsOf(steps).filter(
      (step) => isLong(step) && !(step.kind === "routine" && step.state !== undefined),
    );
    expect(long.map(({ kind, name: names, units, work }) => ({ kind, names, units, work }))).toEqual([]);
    expect(steps.length).toBeLessThan(8192);
  },
);
