import { chmod } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { failure } from "../failure.ts";
import { addingModel, unknownOperatorModel, useFolder } from "../program.test-helper.ts";
import { renderPng } from "../render-graph.ts";

const { run, put, get, path } = useFolder();
const text = async (name: string) => new TextDecoder().decode(await get(name));

describe("nnhal graph", () => {
  it("writes Graphviz text, with constants inside operations unless told otherwise", async () => {
    await put("add.tflite", addingModel());
    const { stdout, stderr, exitCode } = await run(["graph", "add.tflite"]);
    expect(stdout).toMatch(/^\/\/ add\.tflite\ndigraph \{\n/);
    expect(stdout).toContain('n0 [shape=box style=filled fillcolor="#fbe8c8" ordering=in label="0: ADD\\lactivation (');
    expect([stderr, exitCode]).toEqual(["", 0]);
    const nodes = (await run(["graph", "add.tflite", "--constants", "nodes"])).stdout;
    expect(nodes).toContain('n0 [shape=box ordering=in label="0: ADD"]');
    expect(nodes).toMatch(/d\d \[label="\d: COPY\\nI32 = 0"\]/);
  });

  it("writes the module of nnhal-wasm", async () => {
    await put("add.tflite", addingModel());
    const { stdout, exitCode } = await run(["graph", "add.tflite", "--wasm", "-o", "add.wat"]);
    expect([stdout, exitCode]).toEqual(["", 0]);
    expect(await text("add.wat")).toContain('(export "0 ADD" (func $0_ADD))');
    const both = await run(["graph", "add.tflite", "--wasm", "--format", "svg"]);
    expect(both.stderr).toContain("option '--wasm' cannot be used with option '--format <format>'");
    await put("custom.tflite", unknownOperatorModel());
    expect(await run(["graph", "custom.tflite", "--wasm"])).toMatchObject({ exitCode: 2 });
  });

  it("writes JSON", async () => {
    await put("add.tflite", addingModel());
    const { stdout } = await run(["graph", "add.tflite", "--format", "json"]);
    const { name, main } = JSON.parse(stdout);
    expect([name, main.operations.map(({ type }: { type: string }) => type)]).toEqual(["add.tflite", ["ADD"]]);
  });

  it("draws the operators of a file that cannot become a HAL model, and exits with 1", async () => {
    await put("custom.tflite", unknownOperatorModel());
    const reason = 'the HAL has no counterpart of the custom operator "Frobnicate"';
    const { stdout, stderr, exitCode } = await run(["graph", "custom.tflite"]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `nnhal graph: note: this is the file itself, which cannot become a HAL model: 1 problem, the first: ${reason}\n`,
    );
    expect(stdout).toContain('label="0: CUSTOM Frobnicate\\nblocked: the HAL has no counterpart of the custom');
    expect(stdout).toContain('in0_0 -> op0_0 [label="given\\nFLOAT32[1, 2]"]');
    expect(stdout).toContain("op0_0 -> out0_0");
    const svg = (await run(["graph", "custom.tflite", "--format", "svg"])).stdout;
    for (const shown of ["0: CUSTOM Frobnicate", "given", "made", "FLOAT32[1, 2]", "blocked"]) {
      expect(svg).toContain(`>${shown}</text>`);
    }
    const { subgraphs, problemCount } = JSON.parse((await run(["graph", "custom.tflite", "--format", "json"])).stdout);
    expect(subgraphs[0].operators).toMatchObject([{ name: "CUSTOM", status: "blocked", reason, inputs: [0] }]);
    expect(subgraphs[0].tensors[1]).toEqual({ name: "made", type: "FLOAT32", shape: [1, 2], isConstant: false });
    expect(problemCount).toBe(1);
  });

  it("writes an SVG picture", async () => {
    await put("add.tflite", addingModel());
    const { stdout, exitCode } = await run(["graph", "add.tflite", "--format", "svg"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/<svg[\s\S]*<\/svg>/);
    for (const shown of ["0 ADD", "0: left", "FLOAT32 2x2", "activation: NONE"])
      expect(stdout).toContain(`>${shown}</text>`);
  });

  it.each([
    ["out.dot", /^\/\/ add\.tflite/],
    ["out.json", /^\{"name":"add\.tflite"/],
    ["OUT.SVG", /<svg/],
  ])("takes the format from the output's name: %s", async (name, content) => {
    await put("add.tflite", addingModel());
    expect(await run(["graph", "add.tflite", "-o", name])).toEqual({ stdout: "", stderr: "", exitCode: 0 });
    expect(await text(name)).toMatch(content);
  });

  it("takes the format that is asked for whatever the name", async () => {
    await put("add.tflite", addingModel());
    await run(["graph", "add.tflite", "-o", "picture", "--format", "json"]);
    expect(await text("picture")).toMatch(/^\{"name"/);
  });

  it("exits with 2 and one line if it is asked for what cannot be", async () => {
    await put("add.tflite", addingModel());
    for (const [args, problem] of [
      [["add.tflite", "-o", "out.gif"], "the name out.gif does not end in .dot, .json, .svg, .png: add --format"],
      [["add.tflite", "-o", "folder/out.dot"], "cannot write folder/out.dot: there is no such folder"],
      [["add.tflite", "--format", "png"], "a PNG needs a file to go to: add --output"],
      [["gone.tflite"], "cannot read the model gone.tflite: the file does not exist"],
    ] as const) {
      expect(await run(["graph", ...args])).toEqual({
        stdout: "",
        stderr: `nnhal graph: ${problem}\n`,
        exitCode: 2,
      });
    }
  });
});

describe("renderPng", () => {
  // The program in place of Graphviz's is a script, which Windows cannot start as one.
  const onUnix = it.runIf(process.platform !== "win32");

  /** A program in place of Graphviz's. */
  const program = async (name: string, script: string) => {
    await put(name, `#!/bin/sh\n${script}\n`);
    await chmod(path(name), 0o755);
    return path(name);
  };

  onUnix("gives the text to the program and takes the picture from it", async () => {
    const png = await renderPng("digraph {}", await program("fine", 'echo "$@"; cat'));
    expect(new TextDecoder().decode(png)).toBe("-Tpng\ndigraph {}");
  });

  it("says what is missing if there is no such program", async () => {
    await expect(renderPng("digraph {}", path("gone"))).rejects.toEqual(
      failure(`PNG needs Graphviz: its program ${path("gone")} is not installed; SVG can be drawn without it`),
    );
  });

  onUnix("passes on what the program says, or how it ended, also if it does not read", async () => {
    const long = `digraph {${" ".repeat(1 << 20)}}`;
    await expect(renderPng(long, await program("failing", "echo 'no fonts' >&2; exit 3"))).rejects.toEqual(
      failure("Graphviz cannot draw the graph: no fonts"),
    );
    const silent = await program("silent", "exit 4");
    await expect(renderPng(long, silent)).rejects.toEqual(
      failure(`Graphviz cannot draw the graph: ${silent} ended with 4`),
    );
  });
});
