/**
 * Memory that has moved elsewhere, or moves while runs go on: each run settles, with a NetworkError if it lacks its values.
 */
import { describe, expect, it } from "vitest";
import { load } from "./load.ts";
import { addingModel, passingModel } from "./models.test-helper.ts";
import { encodePng } from "./picture/encode-png.ts";
import { picture } from "./picture/load-picture.ts";
import { portHere } from "./port.test-helper.ts";

describe("two runs that take the same memory", () => {
  it("settle both: the second lacks its values", async () => {
    const model = await load(passingModel({ shape: [1, 4] }), { engines: [], worker: () => portHere().port });
    const values = Float32Array.of(1, 2, 3, 4);
    const [first, second] = await Promise.allSettled([
      model.run(values, { transfer: true }),
      model.run(values, { transfer: true }),
    ]);
    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ reason: { name: "NetworkError", code: "WRONG_SIZE" } });
    await model.close();
  });

  it("settle both if they take parts of it, and a run that only reads it settles, too", async () => {
    const model = await load(addingModel(), { engines: [], worker: () => portHere().port });
    const both = new Float32Array(8);
    const inputs = { left: both.subarray(0, 4), right: both.subarray(4) };
    const runs = [model.run(inputs, { transfer: true }), model.run(inputs, { transfer: true }), model.run(inputs)];
    const settled = await Promise.allSettled(runs);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await model.close();
  });
});

it("a message that the worker cannot read fails its own run, and no other", async () => {
  let computes = 0;
  const { port, lose } = portHere();
  const model = await load(passingModel({ shape: [1, 4] }), {
    engines: [],
    worker: () => ({
      ...port,
      post(message, transfer) {
        const isSecond = (message as { readonly ask: string }).ask === "compute" && ++computes === 2;
        if (!isSecond) return port.post(message, transfer);
        // It arrives as an event without data.
        setImmediate(lose);
      },
    }),
  });
  expect((await model.run([1, 2, 3, 4])).output.data).toHaveLength(4);
  await expect(model.run([1, 2, 3, 4])).rejects.toMatchObject({ name: "NetworkError", code: "WRONG_VALUE" });
  expect((await model.run([1, 2, 3, 4])).output.data).toHaveLength(4);
  await model.close();
});

it("a value that cannot be passed to a worker fails its run", async () => {
  const { port } = portHere((message) => {
    if ((message as { readonly ask: string }).ask === "compute") throw new Error("it cannot be cloned");
  });
  const model = await load(passingModel({ shape: [1, 4] }), { engines: [], worker: () => port });
  await expect(model.run([1, 2, 3, 4])).rejects.toMatchObject({
    name: "NetworkError",
    code: "WRONG_VALUE",
    message: expect.stringContaining("it cannot be cloned"),
  });
  await model.close();
});

describe("memory that has moved elsewhere", () => {
  const detach = <Data extends Float32Array | Uint8Array>(data: Data): Data => {
    structuredClone(data, { transfer: [data.buffer as ArrayBuffer] });
    return data;
  };
  const refused = {
    name: "NetworkError",
    code: "WRONG_SIZE",
    message: expect.stringContaining("has been transferred"),
  };

  it("is refused as an input, an output and a state, with its shape too", async () => {
    const model = await load(passingModel({ shape: [1, 4] }), { engines: [] });
    const data = detach(new Float32Array(4));
    await expect(model.run(data)).rejects.toMatchObject(refused);
    await expect(model.run({ data, shape: [1, 4] })).rejects.toMatchObject(refused);
    await expect(model.run([1, 2, 3, 4], { outputs: { passed: data } })).rejects.toMatchObject({
      name: "NetworkError",
    });
    await model.close();
  });

  it("is refused as a file and as a picture", async () => {
    await expect(load(detach(addingModel().slice()))).rejects.toMatchObject(refused);
    const { buffer } = detach(addingModel().slice());
    await expect(load(buffer as ArrayBuffer)).rejects.toMatchObject(refused);
    const data = detach(new Uint8Array(3));
    await expect(picture({ width: 1, height: 1, data })).rejects.toMatchObject(refused);
    await expect(encodePng({ width: 1, height: 1, data })).rejects.toMatchObject(refused);
  });
});
