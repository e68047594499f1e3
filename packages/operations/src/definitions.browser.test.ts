import { OperationType } from "@nnhal/types";
import { describe, expect, test } from "vitest";
import { loadByNeed } from "./definitions.browser.ts";
import { families } from "./families.gen.ts";
import { operations as all } from "./registry.gen.ts";
import { createRegistry, whenLoaded } from "./registry.ts";

/** The registry of a page that has loaded nothing. */
function openDevice() {
  const definitions = loadByNeed(families);
  return { ...createRegistry(definitions), operations: definitions.operations };
}

describe("definitions in a browser", () => {
  test("all operations can be loaded", async () => {
    const { loadOperations, operations, operationByCode } = openDevice();
    expect(operations).toEqual([]);
    await loadOperations();
    expect(new Set(operations)).toEqual(new Set(all));
    for (const operation of all) expect(operationByCode(operation.code)).toBe(operation);
  });

  test("a definition that is not loaded is refused with its name, and loaded with its family", async () => {
    const { loadOperations, operationByCode } = openDevice();
    const find = () => operationByCode(OperationType.LSTM)?.name;
    expect(find).toThrow("the definition of LSTM is not loaded");
    await loadOperations([OperationType.LSTM]);
    expect(find()).toBe("LSTM");
    expect(operationByCode(OperationType.SVDF)?.name).toBe("SVDF");
    expect(() => operationByCode(OperationType.ADD)).toThrow("the definition of ADD is not loaded");
  });

  test("a code without a definition has nothing to load", async () => {
    const { ensureLoaded, loadOperations, operationByCode, operations } = openDevice();
    expect(operationByCode(OperationType.OEM_OPERATION)).toBeUndefined();
    expect(operationByCode(70_000)).toBeUndefined();
    expect(() => ensureLoaded([70_000])).not.toThrow();
    await loadOperations([70_000]);
    expect(operations).toEqual([]);
  });

  test("work is repeated until all that it needs is loaded; its other errors are its own", async () => {
    const { operationByCode } = openDevice();
    const names = () => [OperationType.ADD, OperationType.LSTM].map((code) => operationByCode(code)?.name);
    expect(await whenLoaded(names)).toEqual(["ADD", "LSTM"]);
    const makeFailing = () => {
      throw new RangeError("its own");
    };
    await expect(whenLoaded(makeFailing)).rejects.toThrow(new RangeError("its own"));
  });

  test("a family that could not be loaded is loaded by the next call", async () => {
    let tries = 0;
    const load = async () => {
      tries++;
      if (tries === 1) throw new TypeError("the network is down");
      return all;
    };
    const { loadOperations, operationByCode } = createRegistry(loadByNeed([{ names: ["ADD", "SUB"], load }]));
    await expect(loadOperations()).rejects.toThrow("the network is down");
    await loadOperations();
    expect(operationByCode(OperationType.SUB)?.name).toBe("SUB");
    expect(tries).toBe(2);
  });
});
