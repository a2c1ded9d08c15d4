import * as z from "zod/mini";

/*
 * The rules by which the platform rejects a template message, each with its code.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */

const Text = z.object({ type: z.literal("text"), text: z.string() });
const Image = z.object({ type: z.literal("image"), image: z.object({ id: z.string() }) });
const Document = z.object({
  type: z.literal("document"),
  document: z.object({ id: z.string(), filename: z.optional(z.string()) }),
});
const Component = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("body"), parameters: z.array(Text) }),
  z.strictObject({ type: z.literal("header"), parameters: z.array(z.union([Image, Document])) }),
  z.strictObject({
    type: z.literal("button"),
    sub_type: z.literal("url"),
    index: z.literal("0"),
    parameters: z.array(Text),
  }),
]);

/** The callback data has up to 512 characters: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages */
export const Posted = z.strictObject({
  messaging_product: z.literal("whatsapp"),
  recipient_type: z.literal("individual"),
  to: z.string().check(z.regex(/^\+?\d{8,15}$/)),
  type: z.literal("template"),
  template: z.strictObject({
    name: z.string(),
    language: z.strictObject({ code: z.string() }),
    components: z.array(Component),
  }),
  biz_opaque_callback_data: z.string().check(z.maxLength(512)),
});
export type Posted = z.infer<typeof Posted>;

/** What an approved template has. */
export interface Template {
  readonly language: string;
  readonly components: readonly ("header" | "body" | "button")[];
  readonly header?: "image" | "document";
}

/** "Param text cannot have new-line/tab characters or more than 4 consecutive spaces", the details of 132018. */
const forbidden = /[\n\r\t]| {5}/;
/** The platform counts the whole body: https://github.com/glific/glific/issues/3517 */
const maxBodyLength = 1_024;
/** https://github.com/authgear/authgear-server/issues/3356 */
const maxCodeLength = 15;

/** @param media content types of what was uploaded, by id. @returns the code with which it is rejected. */
export const findRejection = (
  { template: { name, language, components } }: Posted,
  templates: Readonly<Record<string, Template>>,
  media: ReadonlyMap<string, string>,
): number | undefined => {
  const approved = templates[name];
  if (approved?.language !== language.code) return 132001;
  if (`${components.map(({ type }) => type)}` !== `${approved.components}`) return 132000;
  for (const component of components) {
    const [parameter, ...others] = component.parameters;
    if (!parameter || others.length > 0) return 132000;
    if (parameter.type !== "text") {
      const { id } = parameter.type === "image" ? parameter.image : parameter.document;
      const type = media.get(id);
      if (type === undefined) return 131009;
      const isDocument = type === "application/pdf";
      if (parameter.type !== approved.header || isDocument !== (parameter.type === "document")) return 132012;
      continue;
    }
    if (parameter.text === "") return 131008;
    if (forbidden.test(parameter.text)) return 132018;
    if (parameter.text.length > (approved.components.includes("button") ? maxCodeLength : maxBodyLength))
      return 132005;
  }
  return undefined;
};
