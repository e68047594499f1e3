/** Attributes of extensions on their way from an application to a backend that reads them. */
import type { Backend, Hint } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { asAidl4, liftDevice } from "@nnhal/driver-core/versions";
import { defineExtension } from "@nnhal/operations/authoring";
import type { Device } from "@nnhal/types";
import { expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { addCompilationAttribute, addExecutionAttribute } from "./extension-attributes.ts";
import { addModel } from "./models.test-helper.ts";

const speed = defineExtension({ name: "com.example.speed", version: "1", operandTypes: {}, operations: [] });

/** The reference with an extension whose hints it notes. */
async function openNoting() {
  const compiled: (readonly Hint[] | undefined)[] = [];
  const ran: (readonly Hint[] | undefined)[] = [];
  const reference = createReferenceBackend({ extensions: [speed] });
  const backend: Backend = {
    ...reference,
    async open() {
      const session = await reference.open();
      if ("unavailable" in session) return session;
      return {
        ...session,
        hintedExtensions: [speed.name],
        async compile(graph, options) {
          compiled.push(options.hints);
          const executable = await session.compile(graph, options);
          return {
            ...executable,
            run(inputs, outputs, context) {
              ran.push(context.hints);
              return executable.run(inputs, outputs, context);
            },
          };
        },
      };
    },
  };
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return { device, compiled, ran };
}

const own = (device: Device): Device => device;
const throughAidl4 = (device: Device): Device => liftDevice(device.name, asAidl4(device));

it.each([
  ["of this process", own],
  ["through the interface of AIDL 4", throughAidl4],
])("attributes reach the backend of a device %s, in each run of a reusable execution", async (_, wrap) => {
  const { device, compiled, ran } = await openNoting();
  const compilation = new Compilation(addModel(), [wrap(device)]);
  const attribute = (code: number, value: number) => ({ extensionName: speed.name, code, data: Uint8Array.of(value) });
  addCompilationAttribute(compilation, attribute(1, 10));
  await compilation.finish();
  const execution = new Execution(compilation);
  const sum = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1, 2));
  execution.setInput(1, Float32Array.of(3, 4));
  execution.setOutput(0, sum);
  addExecutionAttribute(execution, attribute(2, 20));
  execution.setReusable(true);
  await execution.compute();
  await execution.compute();
  expect([...sum]).toEqual([4, 6]);
  expect(compiled).toEqual([[{ extension: speed.name, code: 1, value: Uint8Array.of(10) }]]);
  expect(ran).toEqual(new Array(2).fill([{ extension: speed.name, code: 2, value: Uint8Array.of(20) }]));
});
