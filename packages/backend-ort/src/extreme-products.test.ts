/**
 * 8-bit convolutions and matrix products at the limits of their numbers, with the forms of this processor and with unsigned weights. By
 * default a sample runs, and with NNHAL_FAULTS=all 10,000 of each.
 */
import { describe, expect, it } from "vitest";
import { compareExtremeProducts } from "./extreme-products.test-helper.ts";
import { ortBackend } from "./ort-backend.ts";

const isWhole = process.env.NNHAL_FAULTS === "all";
const count = isWhole ? 10_000 : 60;

describe.each([false, true])("products with unsigned weights: %s", (unsignedWeights) => {
  it("are within a step of the reference", { timeout: isWhole ? 3_600_000 : 120_000 }, async () => {
    const session = await ortBackend({ threads: 1, unsignedWeights }).open();
    if ("unavailable" in session) throw new Error(session.unavailable);
    const { compared, refused, steps, elements, wrong } = await compareExtremeProducts(session, { seed: 1, count });
    await session.close();
    expect(wrong).toEqual([]);
    expect([compared, refused]).toEqual([count, 0]);
    // Rounding in float32 explains few of them.
    expect(steps).toBeLessThan(elements / 1000);
  });
});
