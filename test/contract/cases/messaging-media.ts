import { formOf } from "../../steps/messaging.ts";
import type { Section } from "../case.ts";
import { expectMessagingInvalid, expectMessagingRefusal } from "../mismatch.ts";
import { askAs, gatewayMend, needs, phone, schemaMend, suffixed } from "./messaging-question.ts";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const gif = Buffer.from("GIF89a-no-image");
const address = "https://example.com/a.png";
type Fields = Record<string, string | Buffer>;
/** What is wrong, the form, and some of the words that say how to mend it. */
export const wrongImages: [string, Fields, string][] = [
  ["no phone", { image: png }, "phone is missing"],
  ["neither source", { phone }, "exactly one of"],
  ["a blank address", { phone, image_url: "" }, "exactly one of"],
  ["both sources", { phone, image: png, image_url: address }, "exactly one of"],
  ["a GIF that is named .png", { phone, image: gif }, "JPG or PNG"],
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
  ["a file without a byte", { phone, file: Buffer.alloc(0) }, "file is empty"],
];
export const wrongDurations = ["-1", "1.5", "1e3", "0x10", "one day", "31536001", "999999999999999999"];
export const wrongFormPhones: [string, string][] = [
  [`+${phone}`, `send ${phone}`],
  ["081234567890", "replace the leading 0 with the country code"],
  ["120363025246125486@g.us", "groups are not supported"],
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
      name: "refuses an image without phone, with no or both sources, of another kind or with flags that are none",
      needs,
      mend: schemaMend,
      check: async (system) => {
        for (const [about, fields, words] of wrongImages) {
          const answer = await askAs(system, { path: "/send/image", body: formOf(fields, "a.png"), about });
          expectMessagingInvalid(answer, words);
        }
      },
    },
    {
      name: "refuses a file without phone, with no or both sources, or without a byte",
      needs,
      mend: schemaMend,
      check: async (system) => {
        for (const [about, fields, words] of wrongFiles) {
          const answer = await askAs(system, { path: "/send/file", body: formOf(fields), about });
          expectMessagingInvalid(answer, words);
        }
      },
    },
    {
      name: "refuses a form's phone that is no number of a person, and says how to mend it",
      needs,
      mend: "lib/messaging/phone.ts",
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
      name: "refuses a duration that is no whole number of seconds",
      needs,
      mend: schemaMend,
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
      name: "answers 500 in the contract's words to a form without a usable boundary",
      needs,
      mend: "lib/http/multipart-headers.ts; binaryMediaTypes of the API must hold multipart/form-data and no more",
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
      name: "refuses a form that breaks within a valid boundary",
      needs,
      mend: "lib/http/multipart-structure.ts",
      check: async (system) => {
        const headers = { "content-type": "multipart/form-data; boundary=x" };
        const body = `--x\r\nContent-Disposition: form-data; name="phone"\r\n\r\n${phone}`;
        for (const path of ["/send/image", "/send/file"])
          expectMessagingInvalid(await askAs(system, { path, headers, body, about: "half a form" }));
      },
    },
    {
      name: "refuses what is over a limit with 413",
      needs,
      mend: `lib/http/body-limit.ts and lib/http/multipart.ts; above 6 MB the gateway response REQUEST_TOO_LARGE: ${gatewayMend}`,
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
