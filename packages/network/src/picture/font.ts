/**
 * Letters of 3 by 5 points, for labels on pictures.
 */

/** Rows of a letter from the top, each an octal digit whose bits are the points from the left. */
const letters: Readonly<Record<string, string>> = {
  A: "25755",
  B: "65656",
  C: "34443",
  D: "65556",
  E: "74647",
  F: "74644",
  G: "34553",
  H: "55755",
  I: "72227",
  J: "11152",
  K: "55655",
  L: "44447",
  M: "57755",
  N: "65555",
  O: "25552",
  P: "65644",
  Q: "25563",
  R: "65655",
  S: "34216",
  T: "72222",
  U: "55557",
  V: "55552",
  W: "55775",
  X: "55255",
  Y: "55222",
  Z: "71247",
  "0": "75557",
  "1": "26227",
  "2": "61247",
  "3": "61216",
  "4": "55711",
  "5": "74616",
  "6": "34757",
  "7": "71244",
  "8": "75757",
  "9": "75716",
  "%": "51245",
  ".": "00002",
  ",": "00024",
  "-": "00700",
  "'": "22000",
  "(": "24442",
  ")": "21112",
  "/": "11244",
  ":": "02020",
  "?": "71202",
  " ": "00000",
};

const WIDTH = 3;

/** Points from the top of a line to its bottom. */
export const TEXT_HEIGHT = 5;

/** Points that a text is wide. */
export function textWidth(text: string): number {
  return Math.max(0, [...text].length * (WIDTH + 1) - 1);
}

/** Calls `point` for each point of a text. Letters are upper case; those that are not known are question marks. */
export function drawText(text: string, point: (x: number, y: number) => void): void {
  for (const [place, letter] of [...text.toUpperCase()].entries()) {
    const rows = letters[letter] ?? letters["?"] ?? "";
    for (const [y, digit] of [...rows].entries()) {
      for (let x = 0; x < WIDTH; x++) if ((Number(digit) & (4 >> x)) !== 0) point(place * (WIDTH + 1) + x, y);
    }
  }
}
