import { type Channel, memoryChannels } from "@nnhal/transport/channels";
import { ping } from "@nnhal/transport/protocol";
import { decode } from "@nnhal/utils/codec";
import { describe, expect, it } from "vitest";
import { relay } from "./relay.ts";

/** A relay between two pairs of channels, and what arrives at their far ends. */
function relayTo() {
  const [client, near] = memoryChannels();
  const [far, device] = memoryChannels();
  const ended = relay(near, far);
  const collect = (channel: Channel) => {
    const frames: Uint8Array[] = [];
    const closed = new Promise<string>((resolve) => {
      channel.start({ frame: ({ bytes }) => frames.push(bytes), onClose: resolve });
    });
    return { frames, closed };
  };
  return { client, device, ended, atClient: collect(client), atDevice: collect(device) };
}

/** The frame of a call without arguments. */
function call(id: number, code: number): Uint8Array {
  const frame = new Uint8Array(13);
  const view = new DataView(frame.buffer);
  view.setUint8(0, 2);
  view.setUint32(1, id, true);
  view.setUint32(5, code, true);
  return frame;
}

describe("relay", () => {
  it("passes frames in both directions", async () => {
    const { client, device, atClient, atDevice } = relayTo();
    client.send(Uint8Array.of(1, 2));
    client.send(call(9, ping.code + 1));
    device.send(Uint8Array.of(3));
    await expect.poll(() => atDevice.frames).toEqual([Uint8Array.of(1, 2), call(9, ping.code + 1)]);
    await expect.poll(() => atClient.frames).toEqual([Uint8Array.of(3)]);
  });

  it("answers a ping itself: the device can be computing", async () => {
    const { client, atClient, atDevice } = relayTo();
    client.send(call(258, ping.code));
    await expect.poll(() => atClient.frames.length).toBe(1);
    const [answer = new Uint8Array(0)] = atClient.frames;
    expect([...answer.subarray(0, 5)]).toEqual([3, 2, 1, 0, 0]);
    expect(decode(ping.result, answer.subarray(5))).toEqual({ outcome: { status: 0 } });
    expect(atDevice.frames).toEqual([]);
  });

  it.each(["client", "device"] as const)("ends both sides when the %s is gone", async (side) => {
    const { client, device, ended, atClient, atDevice } = relayTo();
    (side === "client" ? client : device).close("done");
    await Promise.all([ended, atClient.closed, atDevice.closed]);
  });
});
