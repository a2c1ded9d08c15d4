import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { authorizers, routes } from "#lib/routes/index.ts";
import { internalFunctions } from "#lib/routes/internal.ts";
import { listFunctions } from "../infra/build/build.ts";

/** What each folder may import besides packages. A function is alone: its siblings are other Lambdas. */
const mayImport: Record<string, readonly string[]> = {
  lib: ["lib"],
  functions: ["lib"],
  infra: ["infra", "lib"],
  test: ["test", "lib", "functions", "infra"],
};
const areas = ["employee", "resident", "tourism", "messaging", "partner"];

const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from |import |import\()"([.#][^"]+)"/g)].map(([, to = ""]) => ({
    file,
    to: to.startsWith("#") ? to.slice(1) : posix.join(posix.dirname(file), to),
  }));
const imports = globSync("{lib,functions,infra,test}/**/*.ts", { exclude: ["**/node_modules"] }).flatMap(
  importsOf,
);
const part = (path: string, index: number) => path.split("/")[index] ?? "";

describe("dependencies", () => {
  test("are found at all, and lead to files", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(({ to }) => !existsSync(to))).toEqual([]);
  });

  test("go from functions, infra and tests to lib, and never to functions", () =>
    expect(imports.filter(({ file, to }) => !mayImport[part(file, 0)]?.includes(part(to, 0)))).toEqual([]));

  test("do not lead from one area's folder to another's", () => {
    const isArea = (path: string) => part(path, 0) === "lib" && areas.includes(part(path, 1));
    const crossing = imports.filter(
      ({ file, to }) => isArea(file) && isArea(to) && part(file, 1) !== part(to, 1),
    );
    expect(crossing).toEqual([]);
  });

  test("lead from what serves requests to the route table, and from both to the faults, never back", () => {
    const leads = (from: string, to: string) =>
      imports.filter((one) => one.file.startsWith(`lib/${from}/`) && one.to.startsWith(`lib/${to}/`));
    expect(leads("http", "routes").length).toBeGreaterThan(0);
    expect(leads("routes", "http")).toEqual([]);
    expect(
      imports.filter(({ file, to }) => file.startsWith("lib/faults/") && !to.startsWith("lib/faults/")),
    ).toEqual([]);
    expect([...leads("db", "http"), ...leads("messenger", "http")]).toEqual([]);
  });

  test("of a function are its own area's rows, not the whole route table", () => {
    const whole = imports.filter(({ file, to }) => part(file, 0) !== "test" && to === "lib/routes/index.ts");
    expect(whole.filter(({ file }) => part(file, 0) !== "infra")).toEqual([]);
  });
});

/** What a deployment calls. */
const withoutRoute = ["fill-secrets", "migrate"];

describe("the route table", () => {
  test("has a function for every row and a row for every function that is not part of a deployment", () => {
    const rows = [...routes, ...authorizers, ...internalFunctions].map(({ fn }) => fn);
    expect(listFunctions().toSorted()).toEqual([...rows, ...withoutRoute].toSorted());
  });

  test("has no two rows with one method and path", () => {
    const places = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test("has an authorizer for every kind of auth", () => {
    const kinds = new Set(routes.map(({ auth }) => auth.kind).filter((kind) => kind !== "public"));
    expect([...kinds].toSorted()).toEqual(authorizers.map(({ kind }) => kind).toSorted());
  });

  test("speaks of nothing outside its area: /v1 and the area's name, or messages without a version", () => {
    const prefixes: Record<string, readonly string[]> = {
      employee: ["/v1/simpeg"],
      resident: ["/v1/penduduk"],
      tourism: ["/v1/pariwisata"],
      messaging: ["/send", "/messages"],
      docs: ["/docs", "/openapi.json"],
    };
    for (const { fn, path } of routes)
      expect(prefixes[part(fn, 0)]?.filter((prefix) => path.startsWith(prefix))).toHaveLength(1);
  });

  test("names each segment in braces of a path in its schema, and no other", () => {
    for (const { path, params } of routes) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const { properties = {} } = params ? z.toJSONSchema(params) : {};
      expect(Object.keys(properties)).toEqual(names);
    }
  });
});

test("a function file stays short", () => {
  for (const fn of listFunctions())
    expect(readFileSync(`functions/${fn}.ts`, "utf8").split("\n").length).toBeLessThanOrEqual(41);
});

test("no two kinds of work lock each other out by one advisory lock's key", () => {
  const keys = globSync("lib/**/*.{ts,sql}").flatMap((file) =>
    [...new Set(readFileSync(file, "utf8").match(/\b7_?206_?3\d\d\b/g))].map((key) =>
      key.replaceAll("_", ""),
    ),
  );
  expect(keys.length).toBeGreaterThan(3);
  expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted());
});
