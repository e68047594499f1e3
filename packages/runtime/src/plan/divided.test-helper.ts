/**
 * A small model that can be divided, requests for it, and devices that fail.
 */
import { allocateMemory, memoryOf } from "@nnhal/driver-core/memory";
import { androidPolicy } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus, type Model as HalModel, type Request, type RequestMemoryPool } from "@nnhal/types";
import { guardDevice } from "../guard/device.ts";
import { Model } from "../model.ts";
import { addOperands, float32 } from "../models.test-helper.ts";
import { type DivideOptions, divideAndPrepare } from "./divide.ts";

/** in → FLOOR → a → ABS → b → NEG → out, of two numbers each. */
export function chain(result = float32(2)): Model {
  const model = new Model();
  const [input, a, b, output] = addOperands(model, float32(2), float32(2), float32(2), result);
  model.addOperation("FLOOR", [input], [a]);
  model.addOperation("ABS", [a], [b]);
  model.addOperation("NEG", [b], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model;
}

/** out = max(kept, |−in|) where kept = ⌊in⌋ is written by the first step and read by the last. */
export function bridge(): Model {
  const model = new Model();
  const [input, kept, sent, back, output] = addOperands(
    model,
    float32(2),
    float32(2),
    float32(2),
    float32(2),
    float32(2),
  );
  model.addOperation("FLOOR", [input], [kept]);
  model.addOperation("NEG", [input], [sent]);
  model.addOperation("ABS", [sent], [back]);
  model.addOperation("MAXIMUM", [kept, back], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model;
}

/** Doubles a number until it is not less than a limit: a WHILE of LESS and ADD. */
export function makeDoublingLoop(limit: number): Model {
  const condition = new Model();
  const bool = { type: "TENSOR_BOOL8", dimensions: [1] } as const;
  const [state, bound, verdict] = addOperands(condition, float32(1), float32(1), bool);
  condition.setOperandValue(bound, Float32Array.of(limit));
  condition.addOperation("LESS", [state, bound], [verdict]);
  condition.identifyInputsAndOutputs([state], [verdict]);
  condition.finish();
  const body = new Model();
  const [before, after] = addOperands(body, float32(1), float32(1));
  const activation = body.addOperand({ type: "INT32" });
  body.setOperandValue(activation, 0);
  body.addOperation("ADD", [before, before, activation], [after]);
  body.identifyInputsAndOutputs([before], [after]);
  body.finish();
  const model = new Model();
  const subgraph = { type: "SUBGRAPH" } as const;
  const [test, step, start, end] = addOperands(model, subgraph, subgraph, float32(1), float32(1));
  model.setOperandValueFromModel(test, condition);
  model.setOperandValueFromModel(step, body);
  model.addOperation("WHILE", [test, step, start], [end]);
  model.identifyInputsAndOutputs([start], [end]);
  model.finish();
  return model;
}

/** A device whose prepared models, or preparations, fail. */
export function makeFailing(
  device: Device,
  at: "prepare" | "execute",
  status: ErrorStatus = ErrorStatus.GENERAL_FAILURE,
): Device {
  return {
    ...device,
    async prepareModel(model, options) {
      if (at === "prepare") return { status, message: "broken", preparedModel: null };
      const prepared = await device.prepareModel(model, options);
      if (prepared.preparedModel === null) return prepared;
      const timing = { timeOnDevice: 0n, timeInDriver: 0n };
      const execute = async () => ({ status, message: "broken", outputShapes: [], timing });
      return { ...prepared, preparedModel: { ...prepared.preparedModel, execute } };
    },
  };
}

/** A request of one float32 input and output: numbers or a token, and a token or room for so many numbers. */
export function requestOf(input: readonly number[] | number, output: number | { readonly room: number }): Request {
  const given = typeof input === "number" ? input : memoryOf(new Uint8Array(Float32Array.from(input).buffer));
  const room = typeof output === "number" ? output : allocateMemory(4 * output.room);
  const pools = [given, room].map(
    (one): RequestMemoryPool =>
      typeof one === "number" ? { kind: "token", token: one } : { kind: "memory", memory: one },
  );
  const argument = (poolIndex: number) => {
    const pool = elementAt(pools, poolIndex);
    const length = pool.kind === "memory" ? pool.memory.size : 0;
    return { hasNoValue: false, location: { poolIndex, offset: 0, length }, dimensions: [] };
  };
  return { inputs: [argument(0)], outputs: [argument(1)], pools };
}

/** Divides a model by Android's policy, unless another is given, among devices behind the guard. */
export function divideGuarded(model: HalModel, devices: readonly Device[], { cpu, ...options }: DivideOptions = {}) {
  const guarded = { policy: androidPolicy, ...options, ...(cpu && { cpu: guardDevice(cpu) }) };
  return divideAndPrepare(model, devices.map(guardDevice), guarded, {});
}
