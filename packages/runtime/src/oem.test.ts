/**
 * OEM_OPERATION and OEM types in the runtime: accepted, one warning for each model, never on the CPU, and carried to a device that takes
 * them.
 */
import { mapMemory } from "@nnhal/driver-core/memory";
import { type Device, ErrorStatus, type Model as HalModel, OperandType, OperationType } from "@nnhal/types";
import { createLogger, type LogEntry, silentLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { Model } from "./model.ts";
import { addOperands, float32, openReference } from "./models.test-helper.ts";
import { ResultCode } from "./result-code.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

function watch() {
  const entries: LogEntry[] = [];
  const log = createLogger({ sink: (entry) => entries.push(entry) });
  return {
    log,
    warnings: () => entries.filter(({ severity }) => severity === "warning").map(({ message }) => message),
  };
}

const OEM = { type: "OEM" } as const;

/** OEM_OPERATION of an OEM scalar, a constant OEM scalar and bytes, `times` one after the other. */
function oemModel({ times = 1, log = silentLogger }: { times?: number; log?: Model["log"] } = {}): Model {
  const model = new Model({ log });
  const [scalar, constant, bytes] = addOperands(model, OEM, OEM, { type: "TENSOR_OEM_BYTE", dimensions: [2] });
  model.setOperandValue(constant, Uint8Array.of(1, 2, 3));
  let last: number = bytes;
  for (let index = 0; index < times; index++) {
    const next = model.addOperand({ type: "TENSOR_OEM_BYTE", dimensions: [2] });
    model.addOperation("OEM_OPERATION", [scalar, constant, last], [next]);
    last = next;
  }
  model.identifyInputsAndOutputs([scalar, bytes], [last]);
  model.finish();
  return model;
}

const warning = "the model uses OEM and TENSOR_OEM_BYTE and OEM_OPERATION, deprecated since HAL 1.2: use an extension";

describe("a model with OEM operations and operands", () => {
  it.each([1, 3])("is accepted, with one warning for %i uses", (times) => {
    const { log, warnings } = watch();
    expect(oemModel({ times, log }).isFinished).toBe(true);
    expect(warnings()).toEqual([warning]);
  });

  it("has one warning too if it comes in the HAL's form", () => {
    const { hal } = oemModel({ times: 2 });
    const { log, warnings } = watch();
    Model.from(hal, { log });
    expect(warnings()).toEqual([warning]);
    Model.from(hal, { log });
    expect(warnings()).toEqual([warning, warning]);
  });

  it("is named by what it uses: a type in a subgraph alone", () => {
    const inner = new Model({ log: silentLogger });
    const [flag, unused, real, result] = addOperands(
      inner,
      { type: "TENSOR_BOOL8", dimensions: [1] },
      OEM,
      float32(1),
      float32(1),
    );
    inner.addOperation("FLOOR", [real], [result]);
    inner.identifyInputsAndOutputs([flag, unused, real], [result]);
    inner.finish();
    const { log, warnings } = watch();
    Model.from(inner.hal, { log });
    expect(warnings()).toEqual(["the model uses OEM, deprecated since HAL 1.2: use an extension"]);
  });

  it("without them has no warning", () => {
    const { log, warnings } = watch();
    const model = new Model({ log });
    const [input, output] = addOperands(model, float32(1), float32(1));
    model.addOperation("FLOOR", [input], [output]);
    model.identifyInputsAndOutputs([input], [output]);
    model.finish();
    expect(warnings()).toEqual([]);
  });
});

/** A device that takes OEM_OPERATION alone, and records the bytes of the inputs of its executions, and the constants of its models. */
function oemDevice(status: ErrorStatus = ErrorStatus.NONE) {
  const inputs: number[][] = [];
  const models: HalModel[] = [];
  const timing = { timeOnDevice: 0n, timeInDriver: 0n };
  const device: Device = {
    ...reference,
    name: "oem",
    getSupportedOperations({ main }) {
      const supported = main.operations.map(({ type }) => type === OperationType.OEM_OPERATION);
      const reasons = supported.map((yes) => (yes ? undefined : "only OEM_OPERATION"));
      return { status: ErrorStatus.NONE, supported, reasons };
    },
    async prepareModel(model) {
      models.push(model);
      return {
        status: ErrorStatus.NONE,
        preparedModel: {
          async execute({ inputs: given, pools }) {
            if (status !== ErrorStatus.NONE) return { status, message: "worn out", outputShapes: [], timing };
            for (const { location } of given) {
              const pool = pools[location.poolIndex];
              const bytes = pool?.kind === "memory" ? mapMemory(pool.memory) : { unmappable: "a token" };
              if ("unmappable" in bytes) throw new Error(bytes.unmappable);
              inputs.push([...bytes.subarray(location.offset, location.offset + location.length)]);
            }
            return { status, outputShapes: [{ dimensions: [2], isSufficient: true }], timing };
          },
          close() {},
        },
      };
    },
  };
  return { device, inputs, models };
}

async function execute(compilation: Compilation, scalar: Uint8Array): Promise<void> {
  await compilation.finish();
  const execution = new Execution(compilation);
  execution.setInput(0, scalar);
  execution.setInput(1, Uint8Array.of(7, 8));
  execution.setOutput(0, new Uint8Array(2));
  await execution.compute();
}

describe("OEM_OPERATION", () => {
  it("goes to a device that takes it, with all bytes of OEM scalars", async () => {
    const { device, inputs, models } = oemDevice();
    await execute(new Compilation(oemModel(), [device, reference], { cpu: reference }), Uint8Array.of(9, 9, 9, 9, 9));
    expect(inputs).toEqual([
      [9, 9, 9, 9, 9],
      [7, 8],
    ]);
    const constant = models[0]?.main.operands[1];
    const { offset = 0, length = 0 } = constant?.location ?? {};
    expect([...(models[0]?.operandValues.subarray(offset, offset + length) ?? [])]).toEqual([1, 2, 3]);
  });

  it("is not compiled for the CPU, and no other device takes it", async () => {
    const refused = expect.objectContaining({
      code: ResultCode.BAD_DATA,
      message: expect.stringContaining("OEM_OPERATION: the engine has no definition of this operation"),
    });
    await expect(new Compilation(oemModel(), [reference]).finish()).rejects.toEqual(refused);
    await expect(new Compilation(oemModel(), [reference], { cpu: reference }).finish()).rejects.toEqual(refused);
  });

  it("does not fall back to the CPU, even if that claims to take it", async () => {
    const failing = oemDevice(ErrorStatus.GENERAL_FAILURE);
    const cpu = oemDevice();
    const willing: Device = { ...cpu.device, name: "cpu" };
    const told: string[] = [];
    const { capabilities, ...outcome } = reference.getCapabilities();
    const operandPerformance = [{ type: OperandType.OEM, info: { execTime: 0.1, powerUsage: 0.1 } }];
    const fast: Device = {
      ...failing.device,
      getCapabilities: () => ({ ...outcome, capabilities: { ...capabilities, operandPerformance } }),
    };
    const compilation = new Compilation(oemModel(), [fast, willing], {
      cpu: willing,
      onFallback: (text) => told.push(text),
    });
    await expect(execute(compilation, Uint8Array.of(1))).rejects.toThrow("worn out");
    expect([told, cpu.inputs, cpu.models]).toEqual([[], [], []]);
  });
});
