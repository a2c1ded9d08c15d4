import { readFileSync } from "node:fs";

interface Documented {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: {
          readonly "application/json": {
            readonly examples: Readonly<Record<string, { value: { code?: string } }>>;
          };
        };
      }
    >
  >;
}

/** Every answer in the document: `GET /path 404 not_found`. */
export const listDocumented = () => {
  const { paths } = JSON.parse(readFileSync("dist/openapi.json", "utf8"));
  return Object.entries(paths as Record<string, Record<string, Documented>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "servers")
      .flatMap(([method, { responses }]) =>
        Object.entries(responses).flatMap(([status, { content }]) => {
          const examples = Object.values(content?.["application/json"].examples ?? {});
          const codes = Number(status) < 400 ? [""] : examples.map(({ value }) => value.code ?? "");
          return codes.map((code) => `${method.toUpperCase()} ${path} ${status} ${code}`.trim());
        }),
      ),
  );
};
