import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import sharp from "sharp";
import { command } from "../../infra/cli/command.ts";
import type { DevFile } from "../../infra/local/announcement.ts";
import { launch } from "./chromium.ts";

const folder = "lib/docs/pictures";

const take = async (file: string): Promise<void> => {
  const dev: DevFile = JSON.parse(readFileSync(file, "utf8"));
  const { docsUrl, consoleUrl, console: operator } = dev;

  /** The console shows messages. */
  const send = (message: string) =>
    fetch(`${dev.messagingBaseUrl}/send/message`, {
      method: "POST",
      headers: {
        authorization: `Basic ${btoa(`${dev.basic.username}:${dev.basic.password}`)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ phone: dev.phone, message }),
    });
  for (const message of [
    "Pembayaran *diterima*",
    "Antrean A-12: giliran Anda",
    "Pengingat: PBB jatuh tempo besok",
  ])
    await send(message);

  const pages = [
    { name: "docs", url: `${docsUrl}/app-builder`, shows: "h1" },
    {
      name: "reference",
      url: `${docsUrl}/reference#api-1/tag/resident/POST/v1/penduduk/search`,
      shows: '#reference a[aria-current=page][href$="/v1/penduduk/search"]',
    },
    { name: "console", url: consoleUrl, shows: "#status" },
  ];

  mkdirSync(folder, { recursive: true });
  const browser = await launch(await chromium.executablePath());
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      viewport: { width: 1_280, height: 800 },
      colorScheme,
      locale: "en-US",
    });
    const page = await context.newPage();
    for (const { name, url, shows } of pages) {
      await page.goto(url);
      if (name === "console") {
        await page.getByLabel("Username").fill(operator.username);
        await page.getByLabel("Password").fill(operator.password);
        await page.keyboard.press("Enter");
      }
      await page.locator(shows).first().waitFor();
      const picture = `${folder}/${name}.${colorScheme}.png`;
      // 64 colours: a quarter of the size
      const png = await sharp(await page.screenshot()).png({ palette: true, colours: 64, effort: 10 });
      writeFileSync(picture, await png.toBuffer());
    }
    await context.close();
  }
  await browser.close();
};

export const run = command(
  "lab -- screenshots",
  "Take the pictures of the documentation and the README from the running npm run dev.",
  (program, answer) => {
    program
      .argument("[file]", "what npm run dev wrote", (file) => file, ".local/dev.json")
      .action(
        answer(async (file) => {
          await take(file);
          return { text: `The pictures are in ${folder}`, json: { folder } };
        }),
      );
  },
);
