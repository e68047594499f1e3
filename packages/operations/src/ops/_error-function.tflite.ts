/**
 * The complementary error function.
 */

/** 1 - erf(x), to about 14 digits. The series of erf for small x, the continued fraction of erfc for others. */
export function complementaryError(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < 0) return 2 - complementaryError(-x);
  return x < 2.5 ? 1 - series(x) : fraction(x);
}

/** erf(x) = 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (2n + 1)!!, whose terms are all positive. */
function series(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** erfc(x) = exp(-x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), from the inside out. */
function fraction(x: number): number {
  let rest = x;
  for (let n = 60; n > 0; n--) rest = x + n / 2 / rest;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / rest;
}
