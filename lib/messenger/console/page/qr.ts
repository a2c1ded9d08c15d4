import { create } from "qrcode";
import { Html, html } from "#lib/html.ts";

/** The white margin that scanners need, in modules. */
const quietZone = 4;

/**
 * Draws a QR code as inline SVG, which is updated together with the page. The SVG of the `qrcode` package has no
 * label for screen readers.
 */
export const drawQr = (text: string, label: string): Html => {
  const { size, data } = create(text, { errorCorrectionLevel: "L" }).modules;
  const runs: string[] = [];
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1)
      if (data[y * size + x] === 1) runs.push(`M${x + quietZone} ${y + quietZone}h1v1h-1z`);
  const side = size + 2 * quietZone;
  return new Html(
    `<svg class="qr" role="img" aria-label="${html`${label}`.text}" viewBox="0 0 ${side} ${side}"` +
      ` shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/>` +
      `<path fill="#000" d="${runs.join("")}"/></svg>`,
  );
};
