import type { FormFailures } from "@nnhal/backend";
import { versionSuffix } from "@nnhal/backend/proof";
import { describe, expect, it } from "vitest";
import { chooseForms, type FormName, portableForms, productKinds } from "./forms.ts";

const find = (failures: FormFailures<FormName>) => chooseForms({ processor: "Model X (x64)", failures });
/** Failures of the self-check on processors with AVX2 and without VNNI. */
const avx2 = {
  "u8s8 pair": "expected 253, got 191",
  "u8s8 convolution": "expected 253, got 129",
  "u8s8 grouped convolution": "expected 253, got 129",
  "u8s8 matrix product": "expected 253, got 129",
};

describe("the forms of products", () => {
  it("have signed weights if these are right", () => {
    const forms = find({});
    expect(productKinds.map(forms.products)).toEqual(["u8s8", "u8s8", "u8s8", "u8s8"]);
    expect(forms.choices.map(({ reason }) => reason)).toEqual([undefined, undefined, undefined, undefined]);
    expect(versionSuffix(forms.choices)).toBe("");
  });

  it("have unsigned weights where signed ones saturate", () => {
    const forms = find(avx2);
    expect(productKinds.map(forms.products)).toEqual(["u8u8", "u8u8", "u8s8", "u8u8"]);
    expect(forms.choices[0]).toEqual({
      subject: "8-bit convolutions",
      chosen: "u8u8 convolution",
      reason: "on the processor Model X (x64), u8s8 convolution is wrong: expected 253, got 129",
    });
    expect(versionSuffix(forms.choices)).toMatch(/^ forms-/);
  });

  it("have unsigned weights in depthwise convolutions of ARM without products of bytes", () => {
    const forms = find({ "u8s8 depthwise convolution": "expected 253, got 222" });
    expect(productKinds.map(forms.products)).toEqual(["u8s8", "u8s8", "u8u8", "u8s8"]);
  });

  it("are refused if both are wrong, with the processor", () => {
    const forms = find({ ...avx2, "u8u8 matrix product": "expected 253, got 1" });
    expect(forms.products("convolution")).toBe("u8u8");
    expect(forms.products("matrix product")).toEqual({
      refused: expect.stringMatching(
        /^8-bit matrix products are not available: on the processor Model X \(x64\), u8s8 /,
      ),
    });
  });

  it("have unsigned weights wherever that is asked for, and another version", () => {
    expect(productKinds.map(portableForms.products)).toEqual(["u8u8", "u8u8", "u8u8", "u8u8"]);
    expect(portableForms.choices[0]?.reason).toBe("unsigned weights are asked for");
    const suffixes = [find({}), find(avx2), portableForms].map(({ choices }) => versionSuffix(choices));
    expect(new Set(suffixes).size).toBe(3);
  });
});

describe("an operator of one form", () => {
  it("is refused if it is wrong, with the processor; others are not", () => {
    const forms = find({ "float sums": "Conv: expected 2, got 3" });
    expect(forms.refusalOf("Gemm")).toBe(
      "float sums are not available: on the processor Model X (x64), float sums is wrong: Conv: expected 2, got 3",
    );
    expect(forms.refusalOf("Exp")).toBeUndefined();
    expect(find({}).refusalOf("Gemm")).toBeUndefined();
    expect(versionSuffix(forms.choices)).toMatch(/^ forms-/);
  });
});
