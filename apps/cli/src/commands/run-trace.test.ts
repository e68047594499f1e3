import { describe, expect, it } from "vitest";
import { addingModel, useFolder } from "../program.test-helper.ts";

const { run, put, get } = useFolder();

interface TraceFile {
  readonly traceEvents: readonly { readonly ph: string; readonly name: string; readonly tid: number }[];
}

/** The marks of a trace file. */
async function marks(name: string): Promise<string[]> {
  const { traceEvents }: TraceFile = JSON.parse(new TextDecoder().decode(await get(name)));
  return traceEvents.flatMap(({ ph, name }) => (ph === "X" ? [name] : []));
}

const device = ["--device", "reference", "--random", "1"];

describe("nnhal run --trace", () => {
  it("writes what all layers did, and sums it up", async () => {
    await put("add.tflite", addingModel());
    const { stdout, stderr, exitCode } = await run([
      ...["run", "add.tflite", ...device],
      ...["--runs", "2", "--trace", "trace.json"],
    ]);
    expect([stderr, exitCode]).toEqual(["", 0]);
    const found = await marks("trace.json");
    const count = (mark: string) => found.filter((one) => one === mark).length;
    expect(found.slice(0, 1)).toEqual(["[NN_LA_PP]load model"]);
    expect(count("[NN_LA_PP]build model")).toBe(1);
    expect(count("[NN_LR_PP]FinishedModel.from")).toBe(1);
    expect(count("[NN_LA_PC]compile")).toBe(1);
    expect(count("[NN_LR_PC]Compilation.finish")).toBe(1);
    expect(count("[NN_LD_PC]nnhal-reference: prepareModel")).toBe(1);
    for (const mark of ["[NN_LA_PE]run", "[NN_LR_PE]Execution.compute", "[NN_LC_PE]run", "[NN_LC_PCO]ADD"]) {
      expect([mark, count(mark)]).toEqual([mark, 3]);
    }
    expect(count("[NN_LR_PT]Compilation.close")).toBe(1);
    expect(stdout).toMatch(/^written +trace\.json$/m);
    expect(stdout).toMatch(/^phase +layer +count +total ms +self ms$/m);
    expect(stdout).toMatch(/^Execution +Application +3 +\d+\.\d{3} +\d+\.\d{3}$/m);
    expect(stdout).not.toContain("note:");
  });

  it("leaves JSON as it is", async () => {
    await put("add.tflite", addingModel());
    const { stdout } = await run(["run", "add.tflite", ...device, "--json", "--trace", "json-trace.json"]);
    expect(JSON.parse(stdout).device).toBe("nnhal-reference");
    expect((await marks("json-trace.json")).length).toBeGreaterThan(10);
  });

  it("exits with 2 if the file cannot be written", async () => {
    await put("add.tflite", addingModel());
    expect(await run(["run", "add.tflite", ...device, "--trace", "no/trace.json"])).toMatchObject({
      stderr: "nnhal run: cannot write no/trace.json: there is no such folder\n",
      exitCode: 2,
    });
  });
});
