/**
 * All pairs of versions of a client and a service, each over a unix-domain socket of its own: of the protocol, and of the HAL at both ends. They
 * agree on what both have, and say what one of them lacks. Of the pairs of the HAL a third runs; with NNHAL_VECTOR_WAYS=all each.
 */
import { memoryOf } from "@nnhal/driver-core/memory";
import { asVersion, liftDevice } from "@nnhal/driver-core/versions";
import { addModel } from "@nnhal/test-kit/models";
import { list, matmulModel, operationModel } from "@nnhal/test-kit/operation-models";
import { everyWay } from "@nnhal/test-kit/samples";
import {
  type Device,
  ErrorStatus,
  type HalVersion,
  type Hints,
  halVersions,
  type Model,
  OperandType,
  OperationType,
} from "@nnhal/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { socketChannel } from "./channel/index.ts";
import { connectDevice, type RemoteDevice } from "./client/index.ts";
import { addRequest, prepare, reference, socketPair } from "./ends.test-helper.ts";
import type { Channel } from "./protocol/channel.ts";
import { FrameKind } from "./protocol/frames.ts";
import { handshakeFrame, hello, protocolVersions } from "./protocol/handshake.ts";
import { serve } from "./server/index.ts";

let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});
afterAll(() => device.close());

/** The client's end of a connection: it says that it speaks some versions, and its calls are noted. */
function speak(channel: Channel, versions: readonly number[], calls: number[]): Channel {
  return {
    ...channel,
    send(...sent) {
      const [frame] = sent;
      if (frame[0] === FrameKind.hello) sent[0] = handshakeFrame("hello", hello, { versions, service: "" });
      if (frame[0] === FrameKind.call)
        calls.push(new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getUint32(5, true));
      return channel.send(...sent);
    },
  };
}

async function connect(served: Device, versions: readonly number[] = protocolVersions) {
  const [client, server] = await socketPair();
  serve(served, socketChannel(server));
  const calls: number[] = [];
  const remote = await connectDevice(speak(socketChannel(client), versions, calls));
  return { remote, calls };
}

function expectConnected(remote: RemoteDevice | { readonly unavailable: string }): RemoteDevice {
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  return remote;
}

const hints: Hints = {
  pairs: [{ token: 0x10002, value: Uint8Array.of(1) }],
  extensionNameToPrefix: [{ name: "com.example.one", prefix: 1 }],
};

/** Sums 1, 2 and 10, 20 with hints, in each way that a prepared model has. */
async function sumInEachWay(remote: RemoteDevice): Promise<void> {
  const { preparedModel: model } = await remote.prepareModel(addModel([2]), { hints });
  if (model === null) throw new Error("the reference adds");
  const values = Float32Array.of(1, 2, 10, 20, 0, 0);
  const request = addRequest(memoryOf(new Uint8Array(values.buffer)));
  const execution = (await model.createReusableExecution?.(request, { hints }))?.execution;
  const ways = [
    () => model.execute(request, { hints }),
    async () => {
      const launched = await model.executeFenced?.(request, [], { hints });
      await launched?.syncFence?.wait();
      return launched;
    },
    ...(execution ? [() => execution.execute(), () => execution.execute()] : []),
  ];
  for (const way of ways) {
    values.fill(0, 4);
    expect(await way()).toMatchObject({ status: ErrorStatus.NONE });
    expect([...values.subarray(4)]).toEqual([11, 22]);
  }
  execution?.close?.();
  model.close();
}

/** The methods that version 2 has added. */
const newer = [11, 23, 24, 25, 26, 27];

async function expectAgreement(client: readonly number[], service: readonly number[]): Promise<void> {
  const known = client.filter((version) => service.includes(version));
  const { remote, calls } = await connect(device, known.length > 0 ? known : client);
  if (known.length === 0) {
    const versions = `versions ${protocolVersions.join(", ")} of the protocol, the client ${client.join(", ")}`;
    expect(remote).toEqual({ unavailable: expect.stringContaining(`the service speaks ${versions}`) });
    return;
  }
  const connected = expectConnected(remote);
  const isOld = Math.max(...known) === 1;
  expect(connected.halVersion).toBe(isOld ? "1.3" : "aidl4");
  await sumInEachWay(connected);
  // A service does not get a method that its version lacks.
  expect(newer.filter((code) => calls.includes(code))).toEqual(isOld ? [] : newer.slice(0, 5));
  connected.close();
}

describe("versions of the protocol", () => {
  // 3 stands for one that does not exist yet.
  it.each([[[1]], [[2]], [[3]], [[1, 2]], [[2, 3]], [[1, 2, 3]], [[3, 4]]])(
    "a client of %j and this service speak the newest that both do, or say why not",
    (client) => expectAgreement(client, protocolVersions),
  );

  it.each([[[1]], [[2]], [[2, 3]], [[1, 2, 3]]])(
    "this client and a service of %j speak the newest that both do",
    (service) => expectAgreement(protocolVersions, service),
  );
});

/** A model, and the version that has it first. */
const models: readonly (readonly [version: HalVersion, model: Model])[] = [
  ["1.0", addModel([2])],
  ["1.2", negModel(OperandType.TENSOR_FLOAT32)],
  ["1.3", reluModel(OperandType.TENSOR_QUANT8_ASYMM_SIGNED)],
  ["aidl2", matmulModel({ type: OperandType.TENSOR_FLOAT32 }, [], [2, 3, 2], false, false)],
  ["aidl3", reverseModel(OperandType.TENSOR_FLOAT32)],
];

function negModel(type: number): Model {
  return operationModel(OperationType.NEG, [{ type, dimensions: [2] }], { type, dimensions: [2] });
}

function reluModel(type: number): Model {
  const facts = { type, dimensions: [2], scale: 1 };
  return operationModel(OperationType.RELU, [facts], facts);
}

function reverseModel(type: number): Model {
  const facts = { type, dimensions: [2, 2] };
  return operationModel(OperationType.REVERSE, [facts, list([0])], facts);
}

describe("versions of the HAL", () => {
  const pairs = halVersions.flatMap((service) => halVersions.map((client) => ({ client, service })));
  it.each(pairs.filter((_, index) => everyWay || index % 3 === 0))(
    "a client of $client and a device of $service have what both have",
    async ({ client, service }) => {
      const { remote } = await connect(liftDevice("nnhal-lifted", asVersion[service](device)));
      const connected = expectConnected(remote);
      expect(connected.halVersion).toBe(service);
      const driven = liftDevice("driven", asVersion[client](connected));
      expect(driven.halVersion).toBe(client);
      for (const [needed, model] of models) {
        const { supported, reasons } = await connected.getSupportedOperations(model);
        expect(supported, needed).toEqual([needed <= service]);
        const { preparedModel, message } = await connected.prepareModel(model);
        expect(preparedModel !== null, needed).toBe(needed <= service);
        preparedModel?.close();
        if (needed > service) {
          expect(reasons[0]).toContain(`nnhal-lifted is of HAL ${service}`);
          expect(message).toContain(`nnhal-lifted is of HAL ${service}`);
        }
        const both = client < service ? client : service;
        expect((await driven.getSupportedOperations(model)).supported, needed).toEqual([needed <= both]);
        const through = await driven.prepareModel(model);
        expect(through.preparedModel !== null, needed).toBe(needed <= both);
        if (needed > client) expect(through.message).toContain(`driven is of HAL ${client}`);
        through.preparedModel?.close();
      }
      const model = await prepare(driven, addModel([2]));
      const values = Float32Array.of(1, 2, 10, 20, 0, 0);
      const request = addRequest(memoryOf(new Uint8Array(values.buffer)));
      expect(await model.execute(request)).toMatchObject({ status: ErrorStatus.NONE });
      expect([...values.subarray(4)]).toEqual([11, 22]);
      expect(model.createReusableExecution !== undefined).toBe(client === "aidl4");
      const execution = (await model.createReusableExecution?.(request))?.execution;
      values.fill(5, 0, 2);
      if (execution) {
        expect(await execution.execute()).toMatchObject({ status: ErrorStatus.NONE });
        expect([...values.subarray(4)]).toEqual([15, 25]);
      }
      model.close();
      connected.close();
    },
  );
});
