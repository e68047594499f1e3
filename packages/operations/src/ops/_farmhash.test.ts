/**
 * Fingerprint64 against fingerprints that Google's FarmHash 1.1 gives.
 */
import { describe, expect, it } from "vitest";
import { fingerprint64 } from "./_farmhash.ts";

/** Bytes that differ with the length, so that no fingerprint is that of a prefix. */
const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => index * 7 + length);

describe("fingerprint64", () => {
  it.each([
    [0, 0x9ae1_6a3b_2f90_404fn],
    [1, 0x47a2_4c13_b17e_583en],
    [3, 0x40b4_412e_33ee_fd64n],
    [4, 0xc107_ef4c_fd78_de68n],
    [7, 0xef29_6bc3_f278_1108n],
    [8, 0xaf3c_2fea_ecfb_8228n],
    [12, 0xc6c8_12f1_d858_3338n],
    [16, 0x8935_c33c_50c9_19d8n],
    [17, 0xeb5e_445e_8ed8_468fn],
    [32, 0x3767_9234_ee53_fb79n],
    [33, 0xace0_67ce_ef8b_7acdn],
    [64, 0x99ce_f40b_2c6f_98ecn],
    [65, 0x062c_410b_763b_ef3dn],
    [128, 0xdbce_ebb7_b5db_6dc9n],
    [129, 0x4651_ad82_f97e_3ac7n],
    [192, 0x21fc_dfc4_e74e_f3a2n],
    [200, 0x02cf_7f59_90a1_b14fn],
  ])("of %i bytes", (length, fingerprint) => {
    expect(fingerprint64(bytesOf(length))).toBe(fingerprint);
  });

  it("is BigQuery's FARM_FINGERPRINT, whose documentation has this example", () => {
    const signed = BigInt.asIntN(64, fingerprint64(new TextEncoder().encode("1footrue")));
    expect(signed).toBe(-1541654101129638711n);
  });

  it("reads a part of a buffer", () => {
    const part = new Uint8Array(100).fill(1).subarray(3, 20);
    part.set(bytesOf(17));
    expect(fingerprint64(part)).toBe(fingerprint64(bytesOf(17)));
  });
});
