/** Operations of the extension `nnhal.tflite` on random elements, held against the kernels of the extension. */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension, tfliteTypes } from "@nnhal/extension-tflite";
import { type AnyTensorData, byteLength, dataConstructor, describeExtension, elementCount } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import {
  byte,
  createNumbers,
  difference,
  elementsOf,
  flag,
  flags,
  float,
  type Given,
  int,
  list,
  number,
  operatorModel,
  real,
  short,
  type Tensor,
} from "@nnhal/test-kit/operators";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { ortBackend } from "./ort-backend.ts";

const extensions = [tfliteExtension];
const described = extensions.map(describeExtension);

async function deviceOver(backend: Parameters<typeof openDevice>[0]["backend"]): Promise<Device> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const ort = await deviceOver(ortBackend({ threads: 1, extensions }));
const reference = await deviceOver(createReferenceBackend({ extensions }));

const { TENSOR_INT64, TENSOR_COMPLEX64, TENSOR_FLOAT64 } = tfliteTypes;
const long = (...dimensions: number[]): Tensor => ({ type: TENSOR_INT64, dimensions });
const complex = (...dimensions: number[]): Tensor => ({ type: TENSOR_COMPLEX64, dimensions });
const doubles: Tensor = { type: TENSOR_FLOAT64, dimensions: [2] };
const longs = (...numbers: number[]): Given => ({
  ...long(numbers.length),
  value: BigInt64Array.from(numbers, BigInt),
});

function modelOf(name: string, inputs: readonly Given[], outputs: readonly Tensor[]): Model {
  return Model.from(operatorModel(tfliteExtension, name, inputs, outputs), { extensions: described });
}

async function outputsOn(
  device: Device,
  model: Model,
  given: readonly AnyTensorData[],
  outputs: readonly Tensor[],
): Promise<(number | bigint)[][]> {
  const compilation = new Compilation(model, [device]);
  await compilation.finish();
  const execution = new Execution(compilation);
  for (const [place, data] of given.entries()) execution.setInput(place, data);
  const buffers = outputs.map(({ type, dimensions }) => {
    const Data = dataConstructor(type);
    return new Data(byteLength(type, elementCount(dimensions)) / Data.BYTES_PER_ELEMENT);
  });
  for (const [place, buffer] of buffers.entries()) execution.setOutput(place, buffer);
  await execution.compute();
  compilation.close();
  return buffers.map((buffer) => Array.from<number | bigint>(buffer));
}

/** `allowed` is the difference that is allowed; quantised elements count in steps. */
type Case = readonly [name: string, inputs: readonly Given[], outputs: readonly Tensor[], allowed?: number];

const none = number(0);
const cases: readonly Case[] = [
  ["ADD", [long(2, 3), long(3), none], [long(2, 3)]],
  ["ADD", [float(2, 1, 2, 1, 3), float(2, 3), number(1)], [float(2, 1, 2, 2, 3)], 1e-6],
  ["ADD", [short(0.5, 2, 50), short(0.25, 2, 50), none], [short(1, 2, 50)], 1],
  ["SUB", [long(4), long(4), none], [long(4)]],
  ["SUB", [short(0.5, 100), short(0.25, 1), number(3)], [short(1, 100)], 1],
  ["MUL", [long(2, 3), long(1), none], [long(2, 3)]],
  ["MAXIMUM", [long(9), long(1)], [long(9)]],
  ["MINIMUM", [long(9), long(9)], [long(9)]],
  ["EQUAL", [long(20), long(20)], [flags(20)]],
  ["NOT_EQUAL", [long(20), long(1)], [flags(20)]],
  ["LESS", [long(20), long(20)], [flags(20)]],
  ["LESS_EQUAL", [long(20), long(20)], [flags(20)]],
  ["GREATER", [long(20), long(20)], [flags(20)]],
  ["GREATER_EQUAL", [long(20), long(20)], [flags(20)]],
  ["CAST", [long(40)], [int(40)]],
  ["CAST", [int(40)], [long(40)]],
  ["CAST", [long(40)], [flags(40)]],
  ["CAST", [flags(9)], [long(9)]],
  ["CAST", [int(9)], [float(9)]],
  ["ARGMAX", [byte(0.5, 3, 2, 3, 5), number(-1)], [long(2, 3)]],
  ["ARGMAX", [float(2, 3, 5), list(1)], [int(2, 5)]],
  ["ARGMIN", [int(4, 3), longs(0)], [long(3)]],
  ["ARGMAX", [flags(6), number(0)], [long(1)]],
  [
    "STRIDED_SLICE",
    [short(1, 1, 5, 6), list(0, 1, -1), list(1, 5, 0), list(1, 2, -2), none, none, none],
    [short(1, 1, 2, 3)],
  ],
  ["STRIDED_SLICE", [long(4, 3), list(1, 0), list(2, 9), list(1, 1), number(2), number(2), number(1)], [long(3)]],
  ["PAD", [short(0.5, 2, 3), { ...list(0, 1, 2, 0), dimensions: [2, 2] }], [short(0.5, 3, 5)]],
  ["PAD", [long(3), { ...longs(1, 2), dimensions: [1, 2] }], [long(6)]],
  ["GATHER", [long(4, 3), number(0), list(3, 0, 3)], [long(3, 3)]],
  ["GATHER", [float(2, 4), number(1), longs(1, 2)], [float(2, 2)]],
  ["CONCATENATION", [long(1, 2), long(2, 2), none], [long(3, 2)]],
  ["RESHAPE", [long(2, 3), list(3, 2)], [long(3, 2)]],
  ["RESHAPE", [complex(2, 3), list(6)], [complex(6)]],
  ["SQUEEZE", [long(1, 3, 1), list(0)], [long(3, 1)]],
  ["EXPAND_DIMS", [long(3), number(0)], [long(1, 3)]],
  ["TRANSPOSE", [long(2, 3, 4), list(2, 0, 1)], [long(4, 2, 3)]],
  ["SLICE", [long(4, 4), longs(1, 2), longs(2, -1)], [long(2, 2)]],
  ["TILE", [long(2, 1), list(1, 3)], [long(2, 3)]],
  ["SPLIT", [long(4, 2), number(0), number(2)], [long(2, 2), long(2, 2)]],
  ["SPLIT_V", [float(2, 5), longs(1, -1), list(1), number(2)], [float(2, 1), float(2, 4)]],
  ["PACK", [int(2, 3), int(2, 3), number(2), number(1)], [int(2, 2, 3)]],
  ["UNPACK", [short(1, 2, 3), number(3), number(1)], [short(1, 2), short(1, 2), short(1, 2)]],
  ["SELECT_V2", [flags(3), long(2, 3), long(1)], [long(2, 3)]],
  ["SELECT_V2", [flags(2, 1), short(0.5, 3), short(0.5, 2, 3)], [short(0.5, 2, 3)]],
  ["SELECT_V2", [flags(6), flags(6), flags(1)], [flags(6)]],
  ["BROADCAST_TO", [long(3, 1), list(2, 3, 4)], [long(2, 3, 4)]],
  ["REVERSE_V2", [long(2, 3, 2), list(0, -1)], [long(2, 3, 2)]],
  ["SHAPE", [float(2, 5), number(4)], [long(2)]],
  ["SHAPE", [float(2, 5), number(2)], [int(2)]],
  ["CEIL", [float(50)], [float(50)]],
  ["ROUND", [float(50)], [float(50)]],
  ["COS", [float(50)], [float(50)], 1e-6],
  ["SIGN", [float(50)], [float(50)]],
  ["SQUARE", [float(50)], [float(50)]],
  ["SQUARED_DIFFERENCE", [float(5, 10), float(10)], [float(5, 10)]],
  ["SQUARED_DIFFERENCE", [int(10), int(10)], [int(10)]],
  ["LEAKY_RELU", [float(50), real(0.25)], [float(50)]],
  ["LEAKY_RELU", [short(0.5, 100), real(0.3)], [short(0.5, 100)], 1],
  ["GELU", [float(50), flag(false)], [float(50)], 2e-6],
  ["GELU", [float(50), flag(true)], [float(50)], 2e-6],
  ["BATCH_MATMUL", [float(2, 3, 4), float(4, 5), flag(false), flag(false), flag(false)], [float(2, 3, 5)], 1e-4],
  ["BATCH_MATMUL", [float(2, 4, 3), float(2, 5, 4), flag(true), flag(true), flag(false)], [float(2, 3, 5)], 1e-4],
  ["RFFT2D", [float(2, 1, 16), list(1, 16)], [complex(2, 1, 9)], 1e-4],
  ["RFFT2D", [float(3, 5), list(4, 8)], [complex(4, 5)], 1e-4],
  ["RFFT2D", [float(9, 9), list(4, 4)], [complex(4, 3)], 1e-4],
  ["COMPLEX_ABS", [complex(3, 4)], [float(3, 4)], 1e-5],
  ["REAL", [complex(3, 4)], [float(3, 4)]],
  ["IMAG", [complex(3, 4)], [float(3, 4)]],
];

describe("operations of nnhal.tflite", () => {
  it.each(cases.map((one, place) => [`${place} ${one[0]}`, one] as const))("%s", async (_, one) => {
    const [name, inputs, outputs, allowed = 0] = one;
    const next = createNumbers();
    const given = inputs.filter(({ value }) => value === undefined).map((input) => elementsOf(input, next));
    const model = modelOf(name, inputs, outputs);
    const right = await outputsOn(reference, model, given, outputs);
    const actual = await outputsOn(ort, model, given, outputs);
    for (const [place, output] of right.entries()) {
      expect(
        difference(actual[place] ?? [], output),
        `output ${place}: ${actual[place]}; ${output}`,
      ).toBeLessThanOrEqual(allowed);
    }
  });

  it.each<readonly [name: string, inputs: readonly Given[], outputs: readonly Tensor[], reason: string]>([
    ["SIGN", [doubles], [doubles], "SIGN: TENSOR_FLOAT64 is not available"],
    ["CAST", [float(2)], [long(2)], "CAST: TENSOR_FLOAT32 to TENSOR_INT64 is not available"],
    ["ADD", [long(2), long(2), number(1)], [long(2)], "ADD: activation 1 is not available for TENSOR_INT64"],
    [
      "GATHER",
      [float(2, 3), number(1), { ...int(2, 2), value: new Int32Array(4) }, number(1)],
      [float(2, 2)],
      "GATHER: batchDims 1 is not available; only 0 is",
    ],
    ["ATAN2", [float(2), float(2)], [float(2)], "ATAN2: ort has no lowering of it"],
  ])("%s is refused with the reason", async (name, inputs, outputs, reason) => {
    const compilation = new Compilation(modelOf(name, inputs, outputs), [ort]);
    await expect(compilation.finish()).rejects.toThrow(reason);
  });
});
