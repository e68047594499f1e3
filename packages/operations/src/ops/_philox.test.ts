/**
 * Philox4x32-10 against the known answers of its authors' Random123 library.
 */
import { describe, expect, it } from "vitest";
import { philox, unitInterval } from "./_philox.ts";

describe("philox", () => {
  it.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    ],
    [
      [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff],
      [0xffff_ffff, 0xffff_ffff],
      [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    ],
    [
      [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
      [0xa409_3822, 0x299f_31d0],
      [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ],
  ] as const)("of counter %j under key %j", (counter, key, words) => {
    expect(philox(counter, key)).toEqual(words);
  });

  it("takes signed words as the unsigned ones of the same bits", () => {
    expect(philox([-1, -1, -1, -1], [-1, -1])).toEqual([0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
  });
});

describe("unitInterval", () => {
  it("spans [0, 1)", () => {
    expect(unitInterval(0, 0)).toBe(0);
    expect(unitInterval(0x8000_0000, 0)).toBe(0.5);
    expect(unitInterval(0, 64)).toBe(2 ** -53);
    expect(unitInterval(0xffff_ffff, 0xffff_ffff)).toBe(1 - 2 ** -53);
  });
});
