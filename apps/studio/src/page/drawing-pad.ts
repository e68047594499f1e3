/**
 * A pad to draw a digit on: dark lines on paper. What is drawn runs as soon as a line ends, and while it is drawn now and then.
 */
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The drawing as pixels. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

const SIZE = 256;
const LINE = 20;

/** The pad. */
export function DrawingPad({ onDraw }: { readonly onDraw: (pixels: Pixels) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const clear = () => {
    const context = canvas.current?.getContext("2d", { willReadFrequently: true });
    if (context === null || context === undefined) return;
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, SIZE, SIZE);
  };
  useEffect(clear, []);
  const last = useRef<{ x: number; y: number }>(undefined);
  const at = (event: PointerEvent) => {
    const element = canvas.current;
    const scale = element === null ? 1 : SIZE / element.clientWidth;
    return { x: event.offsetX * scale, y: event.offsetY * scale };
  };
  const line = (event: PointerEvent) => {
    const context = canvas.current?.getContext("2d");
    const from = last.current;
    if (context === null || context === undefined || from === undefined) return;
    const to = at(event);
    context.strokeStyle = "#202020";
    context.lineWidth = LINE;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    last.current = to;
  };
  const end = () => {
    if (last.current === undefined) return;
    last.current = undefined;
    const pixels = canvas.current?.getContext("2d")?.getImageData(0, 0, SIZE, SIZE);
    if (pixels !== undefined) onDraw({ width: SIZE, height: SIZE, data: pixels.data });
  };
  return h(
    "div",
    { class: "pad" },
    h("canvas", {
      ref: canvas,
      width: SIZE,
      height: SIZE,
      role: "img",
      "aria-label": "A pad to draw a digit on with a pointer",
      onPointerDown: (event: PointerEvent) => {
        canvas.current?.setPointerCapture(event.pointerId);
        last.current = at(event);
        line(event);
      },
      onPointerMove: line,
      onPointerUp: end,
      onPointerCancel: end,
    }),
    h(
      "p",
      { class: "soft" },
      "Draw a digit here.",
      h("button", { type: "button", class: "quiet", onClick: clear }, "Clear"),
    ),
  );
}
