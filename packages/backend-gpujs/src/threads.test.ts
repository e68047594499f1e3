import { describe, expect, it } from "vitest";
import { engineOn, processorOf, proven } from "./gpujs-backend.ts";
import type { Machine } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";
import { threadsOf, withOneElement } from "./threads.ts";

const processor = { name: "X" };

async function machineOf(mode: "webasm" | "cpu"): Promise<Machine> {
  const opened = await openMachine(mode);
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  return opened.machine;
}

/** A machine whose threads of some widths compute zeros. */
function faulty(machine: Machine, widths: readonly number[]): Machine {
  return {
    ...machine,
    compile: (program) =>
      machine.compile(
        widths.includes(program.width)
          ? { ...program, body: program.width === 4 ? "return [0, 0, 0, 0];" : "return 0;" }
          : program,
      ),
  };
}

describe.each(["webasm", "cpu"] as const)("the self-check in mode %s", { timeout: 60_000 }, (mode) => {
  it("leaves the version as it is if all is right", async () => {
    const machine = await machineOf(mode);
    const { version, choices = [] } = await proven(machine, [], { processor });
    expect(version).toBe(engineOn(machine).version);
    expect(choices.map(({ reason }) => reason)).toEqual(choices.map(() => undefined));
    expect(choices[0]).toEqual({ subject: "elements of layers per thread", chosen: "four" });
    expect(machine.statistics.values).toBe(0);
  });

  it("lets threads compute one element if four are wrong", async () => {
    const { version, choices = [] } = await proven(faulty(await machineOf(mode), [4]), [], { processor });
    expect(version).toMatch(/ forms-[0-9a-f]{8}$/);
    expect(choices[0]?.chosen).toBe("one");
    expect(choices[0]?.reason).toMatch(
      /^on the processor X, four is wrong: FULLY_CONNECTED and ADD: expected -?\d+, got 0$/,
    );
  });
});

describe("the choice of threads", () => {
  it("refuses layers if neither form holds", async () => {
    const machine = await machineOf("cpu");
    const engines = { four: engineOn(machine), one: engineOn(withOneElement(machine)) };
    const failures = { four: "expected 2, got 1", one: "expected 2, got 3" };
    const { engine, choice } = threadsOf(engines, { processor: "X", failures });
    expect(choice.chosen).toBeUndefined();
    const refusal = engine.kernels.CONV_2D?.refuse;
    expect(refusal).toBeDefined();
    expect(threadsOf(engines, { processor: "X", failures: {} }).engine).toBe(engines.four);
    expect(threadsOf(engines, { processor: "X", failures: { four: "" } }).engine).toBe(engines.one);
  });

  it("names the processor, or the graphics adapter, of which nothing is kept", () => {
    expect(processorOf({ mode: "cpu" }).name).not.toContain("adapter");
    expect(processorOf({ mode: "webgpu", adapter: "Y 9" })).toEqual({ name: "of the graphics adapter Y 9" });
    expect(processorOf({ mode: "headlessgl" })).toEqual({ name: "of OpenGL" });
  });
});
