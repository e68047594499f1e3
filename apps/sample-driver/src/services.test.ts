import { describe, expect, it } from "vitest";
import { knownDevices, loadBackend, serviceOfModule, servicesOf, withoutDoubles } from "./services.ts";

const names = (text: string, installed: string[] = ["@nnhal/backend-reference"]) =>
  servicesOf(text, (module) => installed.includes(module)).map(({ name }) => name);

describe("servicesOf", () => {
  it("takes names, other names for devices, and all that are installed", () => {
    expect(names("nnapi-sample_all")).toEqual(["nnapi-sample_all"]);
    expect(names(" nnapi-sample_quant , nnhal-reference")).toEqual(["nnapi-sample_quant", "nnhal-reference"]);
    expect(servicesOf("sample-a=nnapi-sample_all")).toEqual([
      { name: "sample-a", source: { kind: "sample", sample: "nnapi-sample_all" } },
    ]);
    expect(names("all")).toEqual(knownDevices.slice(0, 7));
    expect(names("all", ["@nnhal/backend-tfjs"])).toEqual([...knownDevices.slice(0, 6), "nnhal-tfjs"]);
  });

  it.each([
    ["nnapi-sample_none", 'there is no device "nnapi-sample_none"; there are: nnapi-sample_all,'],
    ["", 'there is no device ""'],
    ["nnhal-ort", "nnhal-ort needs the package @nnhal/backend-ort: npm install @nnhal/backend-ort onnxruntime-node"],
    ["nnapi-sample_all,nnapi-sample_all", "two services are called nnapi-sample_all"],
  ])("refuses %j", (text, message) => {
    expect(() => names(text)).toThrow(message);
  });
});

describe("the service of a module", () => {
  it("is a path from the user's folder, or a package", () => {
    expect(serviceOfModule("npu=./npu.js", "/home/me")).toEqual({
      name: "npu",
      source: { kind: "module", module: "file:///home/me/npu.js" },
    });
    expect(serviceOfModule("npu=@acme/npu", "/").source).toEqual({ kind: "module", module: "@acme/npu" });
  });

  it("needs a name", () => {
    expect(() => serviceOfModule("./npu.js", "/")).toThrow('"./npu.js" is not of the form NAME=MODULE');
    const [one] = servicesOf("nnapi-sample_all");
    expect(() => withoutDoubles([...(one ? [one, one] : [])])).toThrow("two services are called nnapi-sample_all");
  });

  it("must export a backend", async () => {
    const module = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const load = (code: string) => loadBackend({ name: "a", source: { kind: "module", module: module(code) } });
    expect(await load("export const backend = { name: 'a', open() {} }")).toMatchObject({ backend: { name: "a" } });
    await expect(load("export const other = 1")).rejects.toThrow('does not export a backend as "backend"');
    await expect(load("export const backend = {}")).rejects.toThrow('does not export a backend as "backend"');
  });
});
