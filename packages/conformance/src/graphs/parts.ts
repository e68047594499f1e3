/**
 * One device as several, each of which takes a part of the operations: together they must compute the same as the device alone.
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
import { reasonAgainst } from "../support.ts";

/** Which operations of a subgraph a part takes. */
export type Takes = (type: number, index: number) => boolean;

/** A device that computes as another, reports that it is twice as fast, and takes only the operations that `takes` selects. */
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

/** Devices that share models, as one device, and the failures that the kit's own device among them has hidden. */
export interface Shared {
  readonly device: Device;
  /** Number of models that the device under test has prepared. 0: the reference computed everything. */
  countPrepared(): number;
  /**
   * Returns the failure to prepare or execute of the device under test that the reference covered; undefined if there is none.
   */
  failure(): string | undefined;
}

/**
 * A device that divides models among two or three parts of another at random. Operations that the device does not support go to
 * the reference, and so do models that cannot be divided since the size of a value is not known.
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
  return share(device, parts, reference);
}

/** A device that passes operations which another does not support on to the reference. */
export function helpedDevice(device: Device, reference: Device): Shared {
  return share(device, [partOf(device, device.name, () => true)], reference);
}

function share(tested: Device, parts: readonly Device[], reference: Device): Shared {
  let prepared = 0;
  /** Failure of a part in the current call. */
  let current: string | undefined;
  let hidden: string | undefined;
  const watched = parts.map((part) =>
    observe(part, async (call, { status, message }, model) => {
      if (call === "prepareModel" && status === ErrorStatus.NONE) prepared++;
      // An output of unknown size may need another attempt.
      if (status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return;
      // Support may depend on the whole model: an operation on constants, which another part computes here.
      if (call === "prepareModel" && reasonAgainst(model, await tested.getSupportedOperations(model)) !== undefined)
        return;
      const said = message === undefined ? "" : `: ${message}`;
      current ??= `${part.name}: ${call}: ${errorStatusNames.get(status) ?? status}${said}`;
    }),
  );
  // By Android's policy each operation goes to a part that is faster. By cost, all of a small model would stay in one place.
  const device = runtimeAsDevice(watched, { cpu: reference, policy: androidPolicy });
  return {
    device: observe(device, async (_call, { status }) => {
      // A call that the reference refuses too, such as one with other inputs, hides nothing.
      if (status === ErrorStatus.NONE) hidden ??= current;
      current = undefined;
    }),
    countPrepared: () => prepared,
    failure: () => hidden,
  };
}

/** A device that passes its answers to a listener. */
function observe(device: Device, onAnswer: (call: string, outcome: Outcome, model: Model) => Promise<void>): Device {
  return {
    ...device,
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      await onAnswer("prepareModel", result, model);
      const { preparedModel } = result;
      if (preparedModel === null) return result;
      const execute: PreparedModel["execute"] = async (request, how) => {
        const answer = await preparedModel.execute(request, how);
        await onAnswer("execute", answer, model);
        return answer;
      };
      return { ...result, preparedModel: { ...preparedModel, execute } };
    },
  };
}
