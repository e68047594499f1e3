/**
 * The reference backend with private memory, and a record of the calls.
 */
import type { Backend, BackendBuffer, BackendSession, InputBuffer, OutputBuffer } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { type Device, ErrorStatus, OperationType, type OperationTypeName, operationTypeNames } from "@nnhal/types";

/** The events in order: "allocate", "read", "write", "close", and "run" for each execution. */
export type Calls = string[];

/** The reference backend with changed sessions. */
export function changedReference(change: (session: BackendSession) => Partial<BackendSession>): Backend {
  return {
    ...referenceBackend,
    async open() {
      const session = await referenceBackend.open();
      return "unavailable" in session ? session : { ...session, ...change(session) };
    },
  };
}

function memoryBackend(calls: Calls): Backend {
  const bytesOf = new WeakMap<BackendBuffer, Uint8Array>();
  /** The argument in plain bytes: the reference has never seen the place. */
  const inPlain = <One extends InputBuffer | OutputBuffer>({ buffer, ...one }: One) => ({
    ...one,
    bytes: (buffer && bytesOf.get(buffer)) ?? one.bytes,
  });
  return changedReference((session) => ({
    allocate({ dimensions }) {
      calls.push("allocate");
      const place: BackendBuffer = {
        read(bytes) {
          calls.push("read");
          bytes.set(bytesOf.get(place)?.subarray(0, bytes.length) ?? []);
        },
        write(bytes) {
          calls.push("write");
          bytesOf.set(place, bytes.slice());
        },
        close: () => calls.push("close"),
      };
      bytesOf.set(place, new Uint8Array(dimensions.reduce((size, extent) => size * extent, 4)));
      return place;
    },
    async compile(graph, options) {
      const executable = await session.compile(graph, options);
      return {
        run(inputs, outputs, context) {
          calls.push("run");
          return executable.run(
            inputs.map((one) => one && inPlain(one)),
            outputs.map(inPlain),
            context,
          );
        },
        close: () => executable.close(),
      };
    },
  }));
}

/** A device over it that supports only some operations. */
export async function openMemoryDevice(
  name: string,
  takes: readonly OperationTypeName[],
): Promise<{ readonly device: Device & Required<Pick<Device, "allocate">>; readonly calls: Calls }> {
  const calls: Calls = [];
  const device = await openDevice({ name, backend: memoryBackend(calls) });
  if ("unavailable" in device || device.allocate === undefined) throw new Error(`${name} has no memory of its own`);
  return { device: { ...makeTaking(device, takes), allocate: device.allocate }, calls };
}

/** A device that reports only some of its operations as supported, and is twice as fast as the CPU. */
export function makeTaking(device: Device, takes: readonly OperationTypeName[]): Device {
  const { capabilities } = device.getCapabilities();
  const info = { execTime: 0.5, powerUsage: 0.5 };
  const operandPerformance = capabilities.operandPerformance.map(({ type }) => ({ type, info }));
  return {
    ...device,
    getCapabilities: () => ({ status: ErrorStatus.NONE, capabilities: { ...capabilities, operandPerformance } }),
    getSupportedOperations(model) {
      const supported = model.main.operations.map(({ type }) => takes.some((one) => OperationType[one] === type));
      const reasons = model.main.operations.map(({ type }, index) =>
        supported[index] ? undefined : `${operationTypeNames.get(type)} is not for ${device.name}`,
      );
      return { status: ErrorStatus.NONE, supported, reasons };
    },
  };
}
