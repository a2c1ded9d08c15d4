import { expect, test } from "vitest";
import { routes } from "#lib/routes/index.ts";
import { samples } from "./first-request.ts";

test("the cold-start bench has a request for every route", () =>
  expect(Object.keys(samples).sort()).toEqual(routes.map(({ fn }) => fn).sort()));
