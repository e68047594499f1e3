/**
 * Capabilities that are measured once, as the HAL asks: the time of a device relative to the reference CPU on the same machine. They are
 * kept in a file, since a device must report the same ones after each start.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Backend, capabilitiesOf } from "@nnhal/backend";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { type Device, ErrorStatus, type Model, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";

/** Times relative to the reference CPU, which has 1. */
export interface Calibration {
  /** Version of the measured device. Another version is measured again. */
  readonly version: string;
  readonly float: number;
  readonly quantised: number;
}

/** The calibration of a service that is kept; undefined if there is none, or the file is not whole. */
export async function readCalibration(directory: string, service: string): Promise<Calibration | undefined> {
  try {
    const { version, float, quantised } = JSON.parse(await readFile(fileOf(directory, service), "utf8"));
    const isRight = typeof version === "string" && isFactor(float) && isFactor(quantised);
    return isRight ? { version, float, quantised } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a calibration. Rejects if the directory cannot be written; a file that was there before stays whole. */
export async function writeCalibration(directory: string, service: string, calibration: Calibration): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, `.${randomUUID()}`);
  try {
    await writeFile(draft, `${JSON.stringify(calibration)}\n`, { flag: "wx", mode: 0o600 });
    await rename(draft, fileOf(directory, service));
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * A backend with measured figures, if its engine has the version that was measured: that of another one may be as different as another
 * device. `onOtherVersion`: receives why the figures are not used.
 */
export function calibratedBackend(
  backend: Backend,
  { version, float, quantised }: Calibration,
  onOtherVersion: (message: string) => void,
): Backend {
  return {
    ...backend,
    async open(options) {
      const session = await backend.open(options);
      if ("unavailable" in session) return session;
      if (session.version === version) return { ...session, capabilities: capabilitiesOf({ float, quantised }) };
      onOtherVersion(`the kept figures are of ${version}, and this is ${session.version}: --calibrate measures it`);
      return session;
    },
  };
}

/** Measures a device and the reference. `now`: a clock in nanoseconds. Rejects if the reference fails. */
export async function calibrate(device: Device, reference: Device, now: () => bigint): Promise<Calibration> {
  const ratio = async (model: Model): Promise<number> => {
    const own = await leastTime(device, model, now);
    const other = await leastTime(reference, model, now);
    if (other === undefined) throw new Error("the reference cannot run the model of the calibration");
    // A device without the type is not asked for it: the reference's figure stands.
    return own === undefined ? 1 : Math.fround(Math.max(own, 1) / Math.max(other, 1));
  };
  return {
    version: device.getVersionString().version,
    float: await ratio(convolution("float")),
    quantised: await ratio(convolution("quantised")),
  };
}

/** Executions of a measurement. The least time is the one that nothing else has disturbed. */
const rounds = 8;

/** The least time of an execution in nanoseconds; undefined if the device cannot run the model. */
async function leastTime(device: Device, model: Model, now: () => bigint): Promise<number | undefined> {
  const { preparedModel } = await device.prepareModel(model);
  if (preparedModel === null) return undefined;
  const pools = [{ kind: "memory", memory: allocateMemory(2 * bytesOfImage(model)) }] as const;
  const at = (offset: number) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: bytesOfImage(model) },
    dimensions: [],
  });
  let least: number | undefined;
  for (let round = 0; round < rounds; round++) {
    const start = now();
    const { status } = await preparedModel.execute({ inputs: [at(0)], outputs: [at(bytesOfImage(model))], pools });
    if (status !== ErrorStatus.NONE) break;
    const time = Number(now() - start);
    least = Math.min(least ?? time, time);
  }
  preparedModel.close();
  return least;
}

const extent = 16;
const depth = 16;

function bytesOfImage({ main }: Model): number {
  const isFloat = main.operands[0]?.type === OperandType.TENSOR_FLOAT32;
  return extent * extent * depth * (isFloat ? 4 : 1);
}

/** CONV_2D: an image of 16x16x16 with 16 filters of 3x3, padding SAME. */
function convolution(kind: "float" | "quantised"): Model {
  const isFloat = kind === "float";
  const filterBytes = depth * 9 * depth * (isFloat ? 4 : 1);
  const operandValues = new Uint8Array(filterBytes + depth * 4 + 16);
  const numbers = new DataView(operandValues.buffer);
  if (isFloat) for (let at = 0; at < filterBytes; at += 4) numbers.setFloat32(at, 0.01, true);
  else operandValues.fill(129, 0, filterBytes);
  // Padding SAME, strides 1 and 1; no activation.
  for (const [index, value] of [1, 1, 1, 0].entries())
    numbers.setInt32(filterBytes + depth * 4 + index * 4, value, true);
  const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
  const operand = (
    type: number,
    dimensions: readonly number[],
    lifetime: number,
    scale: number,
    zeroPoint: number,
  ) => ({
    ...{ type, dimensions, lifetime, scale, zeroPoint },
    numberOfConsumers: lifetime === SUBGRAPH_OUTPUT ? 0 : 1,
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams: { kind: "none" } as const,
  });
  const constant = (one: ReturnType<typeof operand>, offset: number, length: number) => ({
    ...one,
    location: { poolIndex: 0, offset, length },
  });
  const type = isFloat ? OperandType.TENSOR_FLOAT32 : OperandType.TENSOR_QUANT8_ASYMM;
  const [scale, zero] = isFloat ? [0, 0] : [0.5, 128];
  const bias = isFloat ? type : OperandType.TENSOR_INT32;
  const settings = filterBytes + depth * 4;
  const findSetting = (index: number) =>
    constant(operand(OperandType.INT32, [], CONSTANT_COPY, 0, 0), settings + index * 4, 4);
  return {
    main: {
      operands: [
        operand(type, [1, extent, extent, depth], SUBGRAPH_INPUT, scale, zero),
        constant(operand(type, [depth, 3, 3, depth], CONSTANT_COPY, scale, zero), 0, filterBytes),
        constant(operand(bias, [depth], CONSTANT_COPY, scale * scale, 0), filterBytes, depth * 4),
        ...[0, 1, 2, 3].map(findSetting),
        operand(type, [1, extent, extent, depth], SUBGRAPH_OUTPUT, isFloat ? 0 : 64, zero),
      ],
      operations: [{ type: OperationType.CONV_2D, inputs: [0, 1, 2, 3, 4, 5, 6], outputs: [7] }],
      inputIndexes: [0],
      outputIndexes: [7],
    },
    referenced: [],
    operandValues,
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

function isFactor(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function fileOf(directory: string, service: string): string {
  return join(directory, `${service}.calibration.json`);
}
