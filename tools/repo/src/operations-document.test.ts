import { operations } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { operationsDocument } from "./operations-document.ts";

const text = operationsDocument();

describe("docs/operations.md", () => {
  it("has a row and a section for every operation", () => {
    expect(operations).toHaveLength(106);
    for (const { name, code } of operations) {
      expect(text).toContain(`| ${code} | [${name}](#${name.toLowerCase()}) |`);
      expect(text).toContain(`\n## ${name}\n`);
    }
  });

  it("tells operands, optional ones with version and default, ranks, forms, and types per version", () => {
    const conv = text.slice(text.indexOf("\n## CONV_2D\n"), text.indexOf("\n## DEPTHWISE_CONV_2D\n"));
    expect(conv).toContain("Form 1 of 2:");
    expect(conv).toContain("`paddingScheme` (INT32)");
    expect(conv).toContain("`dilationWidth` (INT32, optional since 1.2, default 1)");
    expect(conv).toContain("Legal are 7, 8, 10 inputs.");
    expect(conv).toContain("| 1.0 | TENSOR_QUANT8_ASYMM | TENSOR_QUANT8_ASYMM | TENSOR_INT32 |");
    expect(conv).toContain("Rank of `input`: 4.");
  });

  it("tells the types that vary, open ranks, and how many a variadic operand stands for", () => {
    expect(text).toContain("| 7 | [EMBEDDING_LOOKUP](#embedding_lookup) | 1.0 | FLOAT32, INT32, QUANT8_ASYMM, ");
    expect(text).toContain("| 96 | [IF](#if) | 1.3 | BOOL8 |");
    expect(text).toContain("Rank of `values`: 2 or more.");
    expect(text).toContain("`inputs` (tensor, one or more)");
    expect(text).toContain("`inputs` (any type, zero or more)");
  });
});
