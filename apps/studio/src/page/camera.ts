/**
 * Which part of a drawing the page shows, and how large.
 */

/** A size in pixels of the page, or in units of the drawing. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point of the drawing is at `x * scale + left`, `y * scale + top` of the view. */
export interface Camera {
  readonly scale: number;
  readonly left: number;
  readonly top: number;
}

export const LEAST_SCALE = 0.01;
export const MOST_SCALE = 4;
const MARGIN = 24;

/** Shows all of a drawing, not larger than it is. A long one starts at its top, as wide as the view. */
export function fitCamera(drawing: Size, view: Size): Camera {
  const across = (view.width - 2 * MARGIN) / Math.max(1, drawing.width);
  const down = (view.height - 2 * MARGIN) / Math.max(1, drawing.height);
  const scale = clampScale(Math.min(across, down, 1));
  return {
    scale,
    left: (view.width - drawing.width * scale) / 2,
    top: Math.max(MARGIN, (view.height - drawing.height * scale) / 2),
  };
}

/** Shows the start of a drawing in letters that can be read. */
export function startCamera(drawing: Size, view: Size, first: { readonly x: number; readonly y: number }): Camera {
  const fitting = fitCamera(drawing, view);
  if (fitting.scale >= READABLE) return fitting;
  const across = drawing.width * READABLE;
  // All of its width; or the left side, if the first box is then in view.
  const side = first.x * READABLE + MARGIN < view.width * 0.75 ? MARGIN : view.width / 2 - first.x * READABLE;
  const left = across + 2 * MARGIN <= view.width ? (view.width - across) / 2 : side;
  return { scale: READABLE, left, top: MARGIN - first.y * READABLE };
}

/** The least scale at which names are drawn. */
export const READABLE = 0.6;

/** Makes a drawing larger by a factor around a point of the view. */
export function zoomCamera({ scale, left, top }: Camera, factor: number, x: number, y: number): Camera {
  const next = clampScale(scale * factor);
  const real = next / scale;
  return { scale: next, left: x - (x - left) * real, top: y - (y - top) * real };
}

/** Brings a point of the drawing to the middle of the view. */
export function centerCamera(camera: Camera, view: Size, x: number, y: number): Camera {
  const scale = Math.max(camera.scale, READABLE);
  return { scale, left: view.width / 2 - x * scale, top: view.height / 2 - y * scale };
}

function clampScale(scale: number): number {
  return Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
}
