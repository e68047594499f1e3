/**
 * One device as several, each of which takes a part of the operations: what they compute together must be what it computes alone.
 */

import { androidPolicy } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import { runtimeAsDevice } from "@nnhal/runtime";
import {
  type Device,
  ErrorStatus,
  errorStatusNames,
  type Model,
  type Outcome,
  operationTypeNames,
  type PerformanceInfo,
  type PreparedModel,
} from "@nnhal/types";
import type { Random } from "../random/random.ts";

/** Which operations of a subgraph a part takes. */
export type Takes = (type: number, index: number) => boolean;

/** A device that computes as another, says that it is twice as fast, and takes the operations that it is told to. */
export function partOf(device: Device, name: string, takes: Takes): Device {
  const { capabilities, ...outcome } = device.getCapabilities();
  const info: PerformanceInfo = { execTime: 0.5, powerUsage: 0.5 };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  const faster = {
    ...capabilities,
    relaxedFloat32toFloat16PerformanceScalar: info,
    relaxedFloat32toFloat16PerformanceTensor: info,
    operandPerformance,
    ifPerformance: info,
    whilePerformance: info,
  };
  return {
    ...device,
    name,
    getCapabilities: () => ({ ...outcome, capabilities: faster }),
    async getSupportedOperations(model: Model) {
      const answer = await device.getSupportedOperations(model);
      if (answer.status !== ErrorStatus.NONE) return answer;
      const { operations } = model.main;
      const supported = operations.map(({ type }, index) => elementAt(answer.supported, index) && takes(type, index));
      const reasons = operations.map(({ type }, index) =>
        elementAt(supported, index) ? undefined : `${operationTypeNames.get(type)} is not for ${name}`,
      );
      return { ...answer, supported, reasons };
    },
  };
}

/** Devices that share models, as one device, and what the kit's own device among them has hidden. */
export interface Shared {
  readonly device: Device;
  /** How many models the device under test has prepared. 0: the reference computed everything. */
  prepared(): number;
  /** What the device under test did not prepare or execute, so that the reference stood in for it; undefined if there is nothing. */
  failure(): string | undefined;
}

/**
 * A device that divides models among two or three parts of another at random. What the device does not support goes to the reference,
 * and so does a model that cannot be divided since the size of a value is not known.
 */
export function dividedDevice(device: Device, reference: Device, random: Random): Shared {
  const count = random.integer(2, 3);
  const owners: number[] = [];
  const ownerOf = (index: number) => {
    while (owners.length <= index) owners.push(random.integer(0, count - 1));
    return owners[index];
  };
  const parts = Array.from({ length: count }, (_, part) =>
    partOf(device, `part-${part}`, (_type, index) => ownerOf(index) === part),
  );
  return shared(parts, reference);
}

/** A device that passes operations which another does not support on to the reference. */
export function helpedDevice(device: Device, reference: Device): Shared {
  return shared([partOf(device, device.name, () => true)], reference);
}

function shared(parts: readonly Device[], reference: Device): Shared {
  let prepared = 0;
  /** What a part has failed at in the call under way. */
  let current: string | undefined;
  let hidden: string | undefined;
  const watched = parts.map((part) =>
    observed(part, (call, { status, message }) => {
      if (call === "prepareModel" && status === ErrorStatus.NONE) prepared++;
      // An output of unknown size may need another attempt.
      if (status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return;
      const said = message === undefined ? "" : `: ${message}`;
      current ??= `${part.name}: ${call}: ${errorStatusNames.get(status) ?? status}${said}`;
    }),
  );
  // By Android's policy each operation goes to a part that is faster. By cost, all of a small model would stay in one place.
  const device = runtimeAsDevice(watched, { cpu: reference, policy: androidPolicy });
  return {
    device: observed(device, (_call, { status }) => {
      // What the reference refuses too, such as other inputs, hides nothing.
      if (status === ErrorStatus.NONE) hidden ??= current;
      current = undefined;
    }),
    prepared: () => prepared,
    failure: () => hidden,
  };
}

/** A device whose answers are told to a listener. */
function observed(device: Device, onAnswer: (call: string, outcome: Outcome) => void): Device {
  return {
    ...device,
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      onAnswer("prepareModel", result);
      const { preparedModel } = result;
      if (preparedModel === null) return result;
      const execute: PreparedModel["execute"] = async (request, how) => {
        const answer = await preparedModel.execute(request, how);
        onAnswer("execute", answer);
        return answer;
      };
      return { ...result, preparedModel: { ...preparedModel, execute } };
    },
  };
}
