/**
 * Pictures as the network takes them. Training draws at the network's input size; accuracy is measured on pictures
 * that are drawn larger and then shrunk the way `nnhal run` shrinks a user's picture.
 */
import { GLYPHS } from "./glyphs.ts";
import { INPUT_SIZE, PICTURE_BYTES, shrink } from "./input.ts";
import type { Random } from "./random.ts";
import { type Picture, render, sketchDigit } from "./sketch.ts";

/** Side of the pictures that accuracy is measured on, before they are shrunk. */
const FRESH_SIZE = 128;

/** Pixels of all pictures one after the other, and their digits. */
export interface Samples {
  pixels: Uint8Array;
  digits: Uint8Array;
}

function collect(count: number, draw: (index: number) => { digit: number; picture: Picture }): Samples {
  const samples = { pixels: new Uint8Array(count * PICTURE_BYTES), digits: new Uint8Array(count) };
  for (let index = 0; index < count; index++) {
    const { digit, picture } = draw(index);
    samples.pixels.set(picture.data, index * PICTURE_BYTES);
    samples.digits[index] = digit;
  }
  return samples;
}

/** Random digits, drawn at the network's input size. */
export const drawSamples = (random: Random, count: number): Samples =>
  collect(count, () => {
    const digit = random.integer(GLYPHS.length);
    return { digit, picture: render(sketchDigit(random, digit), INPUT_SIZE) };
  });

/** Every digit equally often, drawn large and shrunk. */
export const drawFreshSamples = (random: Random, count: number): Samples =>
  collect(count, (index) => {
    const digit = index % GLYPHS.length;
    return { digit, picture: shrink(render(sketchDigit(random, digit), FRESH_SIZE), INPUT_SIZE) };
  });
