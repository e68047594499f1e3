/**
 * Scales pictures the way that most networks were trained to see them.
 */
import { elementAt } from "@nnhal/operations";
import type { Picture, PictureUse } from "./picture.ts";

/**
 * The whole picture at another size: bilinear with half-pixel centres, edges repeated, no smoothing before shrinking,
 * rounded to nearest with halves up.
 */
export function resize(picture: Picture, toWidth: number, toHeight: number): Picture {
  return sampleRows(
    picture,
    samples(0, picture.width, picture.width, toWidth),
    samples(0, picture.height, picture.height, toHeight),
  );
}

/** Where the pixels of a picture lie in a picture that was made of it: at = (x - left) / across, (y - top) / down. */
export interface Placement {
  readonly left: number;
  readonly top: number;
  /** Pixels of the result for a pixel of the picture. */
  readonly across: number;
  readonly down: number;
}

/** Where `fitPicture` puts a picture. */
export function placementOf(
  { width, height }: Pick<Picture, "width" | "height">,
  toWidth: number,
  toHeight: number,
  fit: PictureUse["fit"] = "stretch",
): Placement {
  const [across, down] = [toWidth / width, toHeight / height];
  if (fit === "stretch") return { left: 0, top: 0, across, down };
  if (fit === "cover") {
    const scale = Math.max(across, down);
    return { left: (toWidth - width * scale) / 2, top: (toHeight - height * scale) / 2, across: scale, down: scale };
  }
  // Whole pixels, so that the background has a sharp edge.
  const scale = Math.min(across, down);
  const [inWidth, inHeight] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  return {
    left: Math.floor((toWidth - inWidth) / 2),
    top: Math.floor((toHeight - inHeight) / 2),
    across: inWidth / width,
    down: inHeight / height,
  };
}

/** A picture at another size in the way that it says, bilinear as `resize`. */
export function fitPicture(picture: Picture, toWidth: number, toHeight: number): Picture {
  const { fit = "stretch", background = [0, 0, 0] } = picture.use ?? {};
  const { width, height } = picture;
  const place = placementOf(picture, toWidth, toHeight, fit);
  if (fit === "stretch") return resize(picture, toWidth, toHeight);
  if (fit === "cover") {
    const columns = samples(-place.left / place.across, toWidth / place.across, width, toWidth);
    return sampleRows(picture, columns, samples(-place.top / place.down, toHeight / place.down, height, toHeight));
  }
  const inner = resize(picture, Math.round(width * place.across), Math.round(height * place.down));
  const data = new Uint8Array(toWidth * toHeight * 3);
  for (let at = 0; at < data.length; at++) data[at] = background[at % 3] ?? 0;
  for (let row = 0; row < inner.height; row++) {
    const line = inner.data.subarray(row * inner.width * 3, (row + 1) * inner.width * 3);
    data.set(line, ((row + place.top) * toWidth + place.left) * 3);
  }
  return { width: toWidth, height: toHeight, data };
}

function sampleRows({ width, data }: Picture, columns: readonly Sample[], rows: readonly Sample[]): Picture {
  const result = new Uint8Array(columns.length * rows.length * 3);
  let to = 0;
  for (const { first: top, second: bottom, weight: down } of rows) {
    for (const { first: left, second: right, weight: across } of columns) {
      for (let channel = 0; channel < 3; channel++) {
        const at = (y: number, x: number) => elementAt(data, (y * width + x) * 3 + channel);
        const above = at(top, left) * (1 - across) + at(top, right) * across;
        const below = at(bottom, left) * (1 - across) + at(bottom, right) * across;
        result[to++] = Math.floor(above * (1 - down) + below * down + 0.5);
      }
    }
  }
  return { width: columns.length, height: rows.length, data: result };
}

interface Sample {
  readonly first: number;
  readonly second: number;
  /** The share of the second. */
  readonly weight: number;
}

/** Where the pixels of the result lie among `from` pixels, of which a part is used. */
function samples(start: number, extent: number, from: number, to: number): Sample[] {
  return Array.from({ length: to }, (_, place) => {
    const position = Math.min(Math.max(start + ((place + 0.5) * extent) / to - 0.5, 0), from - 1);
    const first = Math.floor(position);
    return { first, second: Math.min(first + 1, from - 1), weight: position - first };
  });
}

/** Brightness of each pixel: 0.299 red + 0.587 green + 0.114 blue, rounded. */
export function toGrey({ width, height, data }: Picture): Uint8Array {
  const grey = new Uint8Array(width * height);
  for (let pixel = 0; pixel < grey.length; pixel++) {
    const at = pixel * 3;
    grey[pixel] = Math.round(
      0.299 * elementAt(data, at) + 0.587 * elementAt(data, at + 1) + 0.114 * elementAt(data, at + 2),
    );
  }
  return grey;
}
