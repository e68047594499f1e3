/** Peers of different versions of the protocol agree on the newest that both speak, or say why there is none. */
import { memoryOf } from "@nnhal/driver-core/memory";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, ErrorStatus, type Hints } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryChannels } from "./channel/index.ts";
import { connectDevice } from "./client/index.ts";
import { addRequest, prepare, reference } from "./ends.test-helper.ts";
import type { Channel } from "./protocol/channel.ts";
import { commonVersion, handshakeFrame, hello, protocolVersions, welcome } from "./protocol/handshake.ts";
import { serve } from "./server/index.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;
let device: Device;
beforeAll(async () => {
  // Without clients of its own, so that a changed device is the one that is served.
  const { connect: _, ...own } = await reference();
  device = own;
});

const hints: Hints = {
  pairs: [{ token: 0x10002, value: Uint8Array.of(1, 2, 3) }],
  extensionNameToPrefix: [{ name: "com.example.one", prefix: 1 }],
};

/** A channel whose first frame is another. */
function replaceFirst(channel: Channel, first: Uint8Array): Channel {
  let isFirst = true;
  return {
    ...channel,
    send(...sent) {
      if (isFirst) sent[0] = first;
      isFirst = false;
      return channel.send(...sent);
    },
  };
}

/** The reference, and the hints that it receives; connected by versions of the protocol. */
async function connect(versions: readonly number[]) {
  const received: unknown[] = [];
  const hinted: Device = {
    ...device,
    async prepareModel(model, options) {
      received.push(options?.hints);
      const { preparedModel, ...outcome } = await device.prepareModel(model, options);
      if (preparedModel === null) return { ...outcome, preparedModel };
      const { execute, executeFenced, createReusableExecution } = preparedModel;
      return {
        ...outcome,
        preparedModel: {
          ...preparedModel,
          execute(request, given) {
            received.push(given?.hints);
            return execute(request, given);
          },
          ...(executeFenced && {
            executeFenced(request, waitFor, given) {
              received.push(given?.hints);
              return executeFenced(request, waitFor, given);
            },
          }),
          ...(createReusableExecution && {
            createReusableExecution(request, given) {
              received.push(given?.hints);
              return createReusableExecution(request, given);
            },
          }),
        },
      };
    },
  };
  const [client, server] = memoryChannels();
  serve(hinted, server);
  const first = handshakeFrame("hello", hello, { versions, service: "" });
  const remote = await connectDevice(replaceFirst(client, first));
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  return { remote, received };
}

/** A request on memory with 1, 2 and 10, 20, and its sums. */
function sumRequest() {
  const values = Float32Array.of(1, 2, 10, 20, 0, 0);
  return { request: addRequest(memoryOf(new Uint8Array(values.buffer))), values };
}

describe("a client and a server", () => {
  it("of version 2 carry hints, and executions that are set up once", async () => {
    const { remote, received } = await connect(protocolVersions);
    expect(remote.halVersion).toBe("aidl4");
    const { preparedModel } = await remote.prepareModel(addModel([2]), { hints });
    const { request, values } = sumRequest();
    expect(await preparedModel?.execute(request, { hints })).toMatchObject({ status: NONE });
    const launched = await preparedModel?.executeFenced?.(request, [], { hints });
    expect(launched).toMatchObject({ status: NONE });
    await launched?.syncFence?.wait();
    const created = await preparedModel?.createReusableExecution?.(request, { hints });
    const execution = created?.execution;
    expect(received).toEqual([hints, hints, hints, hints]);
    for (const value of [5, 7]) {
      values.fill(value, 0, 2);
      expect(await execution?.execute()).toMatchObject({ status: NONE });
      expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
    }
    const both = await Promise.all([execution?.execute(), execution?.execute()]);
    expect(both.map((result) => result?.status)).toEqual([NONE, GENERAL_FAILURE]);
    execution?.close?.();
    expect((await execution?.execute())?.status).not.toBe(NONE);
    remote.close();
  });

  it("of which one speaks only version 1 leave hints out, and repeat ordinary executions", async () => {
    const { remote, received } = await connect([1]);
    const { preparedModel } = await remote.prepareModel(addModel([2]), { hints });
    const { request, values } = sumRequest();
    expect(await preparedModel?.execute(request, { hints })).toMatchObject({ status: NONE });
    expect([...values.subarray(4)]).toEqual([11, 22]);
    expect(preparedModel?.createReusableExecution).toBeUndefined();
    expect(received).toEqual([undefined, undefined]);
    expect(remote.halVersion).toBe("1.3");
    remote.close();
  });

  it("repeat ordinary executions of a device that sets none up", async () => {
    const [client, server] = memoryChannels();
    const plain: Device = {
      ...device,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await device.prepareModel(model, options);
        if (preparedModel === null) return { ...outcome, preparedModel };
        const { createReusableExecution: _, ...others } = preparedModel;
        return { ...outcome, preparedModel: others };
      },
    };
    serve(plain, server);
    const remote = await connectDevice(client);
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const model = await prepare(remote, addModel([2]));
    const { request, values } = sumRequest();
    const created = await model.createReusableExecution?.(request);
    for (const value of [5, 7]) {
      values.fill(value, 0, 2);
      expect(await created?.execution?.execute()).toMatchObject({ status: NONE });
      expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
    }
    remote.close();
  });

  it("without a version in common say which each speaks", async () => {
    const [client, server] = memoryChannels();
    serve(device, server);
    const first = handshakeFrame("hello", hello, { versions: [3, 4], service: "" });
    expect(await connectDevice(replaceFirst(client, first))).toEqual({
      unavailable: expect.stringContaining("the service speaks versions 1, 2 of the protocol, the client 3, 4"),
    });
  });

  it("end if the server chooses a version that the client does not speak", async () => {
    const [client, server] = memoryChannels();
    const answer = {
      ...({ refusal: null, version: 7, name: "x", halVersion: "1.3", status: 0 } as const),
      ...{ prepareModelFromCache: false, allocate: false },
    };
    server.start({ frame: () => server.send(handshakeFrame("welcome", welcome, answer)), onClose() {} });
    expect(await connectDevice(client)).toEqual({
      unavailable: expect.stringContaining("the service chose version 7 of the protocol, of 1, 2"),
    });
  });

  it.each([
    [[1, 2], 2],
    [[2, 1, 3], 2],
    [[1], 1],
    [[], undefined],
    [[0, 3], undefined],
  ])("that speak %j agree on %s", (versions, expected) => {
    expect(commonVersion(versions)).toBe(expected);
  });
});
