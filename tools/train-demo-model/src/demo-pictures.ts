/**
 * The pictures that come with the command line, one of each kind of look.
 */
import type { LookName } from "./look.ts";
import { createRandom } from "./random.ts";
import { type Picture, render, sketchDigit } from "./sketch.ts";

export interface DemoPicture {
  look: LookName;
  digit: number;
  /** Chosen for a picture that is pleasant to look at. */
  seed: number;
}

export const DEMO_PICTURES: readonly DemoPicture[] = [
  { look: "chalk", digit: 3, seed: 5 },
  { look: "ballpoint", digit: 2, seed: 7 },
  { look: "brush", digit: 5, seed: 5 },
  { look: "marker", digit: 8, seed: 5 },
  { look: "pencil", digit: 4, seed: 3 },
  { look: "mixture", digit: 7, seed: 7 },
];

export const DEMO_PICTURE_SIZE = 160;

/** The description of a picture. */
export const demoPictureName = ({ look, digit }: DemoPicture): string => `${digit}-${look}.png`;

/** Sharp and without noise, as a scan is. */
export function drawDemoPicture({ look, digit, seed }: DemoPicture): Picture {
  const sketch = sketchDigit(createRandom(seed), digit, look);
  return render({ ...sketch, look: { ...sketch.look, softness: 0.008, noise: 0 } }, DEMO_PICTURE_SIZE);
}
