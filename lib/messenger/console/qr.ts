import { create } from "qrcode";
import { Html } from "#lib/html.ts";

/** Modules of white around the code, which scanners want. */
const quietZone = 4;

/**
 * A QR code as inline SVG: no request of its own, and it changes in the same instant as the text around it.
 * Drawn here, since the package's own picture has no name for a screen reader.
 */
export const drawQr = (text: string): Html => {
  const { size, data } = create(text, { errorCorrectionLevel: "L" }).modules;
  const runs: string[] = [];
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1)
      if (data[y * size + x] === 1) runs.push(`M${x + quietZone} ${y + quietZone}h1v1h-1z`);
  const side = size + 2 * quietZone;
  return new Html(
    `<svg class="qr" role="img" aria-label="QR code that links a phone" viewBox="0 0 ${side} ${side}"` +
      ` shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/>` +
      `<path fill="#000" d="${runs.join("")}"/></svg>`,
  );
};
