/**
 * One device as several, each of which takes a part of the operations: what they compute together must be what it computes alone.
 */
import { elementAt } from "@nnhal/operations";
import { runtimeAsDevice } from "@nnhal/runtime";
import { type Device, ErrorStatus, type Model, operationTypeNames, type PerformanceInfo } from "@nnhal/types";
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

/**
 * A device that divides models among two or three parts of another at random. What the device does not support goes to the reference,
 * and so does a model that cannot be divided since the size of a value is not known.
 */
export function dividedDevice(device: Device, reference: Device, random: Random): Device {
  const count = random.integer(2, 3);
  const owners: number[] = [];
  const ownerOf = (index: number) => {
    while (owners.length <= index) owners.push(random.integer(0, count - 1));
    return owners[index];
  };
  const parts = Array.from({ length: count }, (_, part) =>
    partOf(device, `part-${part}`, (_type, index) => ownerOf(index) === part),
  );
  return runtimeAsDevice(parts, { cpu: reference });
}

/** A device that passes operations which another does not support on to the reference. */
export function helpedDevice(device: Device, reference: Device): Device {
  return runtimeAsDevice([device], { cpu: reference });
}
