import { load } from "@nnhal/network";
import { afterEach, expect, it, vi } from "vitest";
import { manyOperators } from "../files.test-helper.ts";
import { encodeMessage, frame } from "../wire.ts";
import { portOfMachine } from "./machine-port.ts";

afterEach(() => vi.unstubAllGlobals());

it.each([
  [() => Promise.reject(new TypeError("Failed to fetch")), "nnhal studio cannot be reached: has it ended?"],
  [async () => new Response('there is no device "x"\n', { status: 400 }), 'there is no device "x"'],
  [async () => new Response("", { status: 401 }), "nnhal studio has ended"],
  [
    async () => new Response(frame(encodeMessage({ id: 0, code: "NO_DEVICE", message: "it has ended", problems: [] }))),
    "it has ended",
  ],
])("says what is wrong if the machine answers as %s", async (answer, message) => {
  vi.stubGlobal("fetch", answer);
  const opening = load(manyOperators(1), { worker: portOfMachine, devices: "x" });
  await expect(opening).rejects.toMatchObject({ name: "NetworkError", message });
});
