import { expect, it } from "vitest";
import { exportedBackend, fastEngines, isMissing, referenceEngine } from "./engines.ts";

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

it.each([
  ["Node.js", withCode("Cannot find package 'engine' imported from /a.js", "ERR_MODULE_NOT_FOUND"), true],
  ["require", withCode("Cannot find module 'engine'\nRequire stack:", "MODULE_NOT_FOUND"), true],
  [
    "yarn",
    new Error("@nnhal/network tried to access engine, but it isn't declared in its dependencies; this makes"),
    true,
  ],
  [
    "yarn, of the application",
    new Error("Your application tried to access engine, but it isn't declared in your"),
    true,
  ],
  [
    "yarn, of another package",
    new Error("engine tried to access other, but it isn't declared in its dependencies"),
    false,
  ],
  ["what it needs", withCode("Cannot find package 'other' imported from engine", "ERR_MODULE_NOT_FOUND"), false],
  ["an error of its own", new Error("Cannot find package 'engine'"), false],
])("knows a module that is not installed by the words of %s", (_, error, missing) => {
  expect(isMissing(error, "engine")).toBe(missing);
});

it("finds the backend of a module", () => {
  const backend = { name: "one", deviceType: 1, open: async () => ({ unavailable: "test" }) };
  expect(exportedBackend({ backend })).toBe(backend);
  expect(exportedBackend(backend)).toBeUndefined();
  expect(exportedBackend({ backend: { ...backend, open: 1 } })).toBeUndefined();
  expect(exportedBackend({ backend: { open: backend.open } })).toBeUndefined();
  expect(exportedBackend({ backend: null })).toBeUndefined();
  expect(exportedBackend(undefined)).toBeUndefined();
});

it("names each device after its package", () => {
  for (const { device, module } of [referenceEngine, ...fastEngines])
    expect(module).toBe(device.replace("nnhal-", "@nnhal/backend-"));
});
