import { formOf } from "../../steps/messaging.ts";
import type { Section } from "../case.ts";
import { expectMessagingInvalid, expectMessagingRefusal } from "../mismatch.ts";
import { askAs, gatewayFix, needs, phone, schemaFix, suffixed } from "./messaging-question.ts";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const gif = Buffer.from("GIF89a-no-image");
const webp = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
const address = "https://example.com/a.png";
type Fields = Record<string, string | Buffer>;
/** What is wrong, the form, and part of the message that says how to fix it. */
export const wrongImages: [string, Fields, string][] = [
  ["no phone", { image: png }, "phone is missing"],
  ["neither source", { phone }, "exactly one of"],
  ["a blank address", { phone, image_url: "" }, "exactly one of"],
  ["both sources", { phone, image: png, image_url: address }, "exactly one of"],
  ["a GIF that is named .png", { phone, image: gif }, "JPG or PNG"],
  ["a WebP file", { phone, image: webp }, "send its URL in image_url"],
  ...["ftp://example.com/a.png", "example.com/a.png", "file:///etc/passwd"].map(
    (wrong): [string, Fields, string] => [wrong, { phone, image_url: wrong }, "image_url must be"],
  ),
  [
    "an address over 2048 characters",
    { phone, image_url: `https://example.com/${"x".repeat(2_029)}` },
    "image_url must be",
  ],
  ["a file in place of the address", { phone, image_url: png }, "image_url must be"],
  ["an address in place of the file", { phone, image: address }, "send a URL in image_url"],
  ["a caption over 1024 characters", { phone, image: png, caption: "x".repeat(1_025) }, "caption must be"],
  ...["view_once", "compress", "is_forwarded"].map((name): [string, Fields, string] => [
    `${name}=yes`,
    { phone: suffixed, image: png, [name]: "yes" },
    `${name} must be true or false`,
  ]),
];
export const wrongFiles: [string, Fields, string][] = [
  ["no phone", { file: png }, "phone is missing"],
  ["neither source", { phone }, "exactly one of"],
  ["both sources", { phone, file: png, file_url: address }, "exactly one of"],
  ["an empty file", { phone, file: Buffer.alloc(0) }, "file is empty"],
];
export const wrongDurations = ["-1", "1.5", "1e3", "0x10", "one day", "31536001", "999999999999999999"];
export const wrongFormPhones: [string, string][] = [
  [`+${phone}`, `send ${phone}`],
  ["081234567890", "replace the leading 0 with the country code"],
  ["120363025246125486@g.us", "groups are not supported"],
  ["123456789012345@lid", "a LID is not a number"],
  ["null", "phone is missing"],
  [`${phone}@example.com`, "only @s.whatsapp.net"],
  [`${suffixed}@s.whatsapp.net`, "8 to 15 digits"],
  ["@s.whatsapp.net", "8 to 15 digits"],
  ["", "phone is missing"],
];

const badBoundary = "request Content-Type has bad boundary or is not multipart/form-data";
const noMultiparts = [
  ...["multipart/form-data", "multipart/form-data; boundary=", "application/json"],
  ...["application/x-www-form-urlencoded", "multipart/mixed; boundary=x"],
];

export const messagingMedia: Section = {
  title: "Messaging: images and files",
  cases: [
    {
      name: "rejects an image without a phone, with no source or both, of another type, or with an invalid flag",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const [about, fields, words] of wrongImages) {
          const answer = await askAs(system, { path: "/send/image", body: formOf(fields, "a.png"), about });
          expectMessagingInvalid(answer, words);
        }
      },
    },
    {
      name: "rejects a file without a phone, with no source or both, or without content",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const [about, fields, words] of wrongFiles) {
          const answer = await askAs(system, { path: "/send/file", body: formOf(fields), about });
          expectMessagingInvalid(answer, words);
        }
      },
    },
    {
      name: "rejects an invalid phone in a form, and says how to fix it",
      needs,
      fix: "Check lib/messaging/phone.ts.",
      check: async (system) => {
        for (const kind of ["image", "file"])
          for (const [wrong, words] of wrongFormPhones) {
            const body = formOf({ phone: wrong, [kind]: png });
            const answer = await askAs(system, {
              path: `/send/${kind}`,
              body,
              about: `the phone «${wrong}»`,
            });
            expectMessagingInvalid(answer, words);
          }
      },
    },
    {
      name: "rejects a duration that is not a whole number of seconds",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const kind of ["image", "file"])
          for (const duration of wrongDurations) {
            const body = formOf({ phone, [kind]: png, duration });
            const answer = await askAs(system, {
              path: `/send/${kind}`,
              body,
              about: `duration=${duration}`,
            });
            expectMessagingInvalid(answer, "duration must be a whole number");
          }
      },
    },
    {
      name: "answers the contract's 500 to a form without a usable boundary",
      needs,
      fix: "Check lib/http/multipart-headers.ts, and that */* is the only entry in binaryMediaTypes of the API.",
      check: async (system) => {
        for (const path of ["/send/image", "/send/file"])
          for (const type of noMultiparts) {
            const question = { path, headers: { "content-type": type }, body: "--x\r\n\r\n--x--" };
            const answer = await askAs(system, { ...question, about: type });
            expectMessagingRefusal(answer, 500, "BAD_BOUNDARY", badBoundary);
          }
      },
    },
    {
      name: "rejects a malformed form with a valid boundary",
      needs,
      fix: "Check lib/http/multipart-structure.ts.",
      check: async (system) => {
        const headers = { "content-type": "multipart/form-data; boundary=x" };
        const body = `--x\r\nContent-Disposition: form-data; name="phone"\r\n\r\n${phone}`;
        for (const path of ["/send/image", "/send/file"])
          expectMessagingInvalid(await askAs(system, { path, headers, body, about: "half a form" }));
      },
    },
    {
      name: "answers 413 to a request over a size limit",
      needs,
      fix: `Check lib/http/body.ts and lib/http/multipart.ts; above 6 MB, the gateway response REQUEST_TOO_LARGE. ${gatewayFix}`,
      check: async (system) => {
        const sized = (path: string, megabytes: number, type: string): Parameters<typeof askAs>[1] => ({
          path,
          headers: { "content-type": type },
          body: "a".repeat(megabytes * 1024 * 1024),
          about: `${megabytes} MB`,
        });
        for (const question of [
          sized("/send/message", 1, "application/json"),
          sized("/send/message", 7, "application/json"),
          sized("/send/file", 5, "multipart/form-data; boundary=x"),
        ])
          expectMessagingRefusal(await askAs(system, question), 413, "PAYLOAD_TOO_LARGE");
      },
    },
  ],
};
