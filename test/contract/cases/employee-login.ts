import * as z from "zod/mini";
import type { Section } from "../case.ts";
import {
  expectHeader,
  expectInvalid,
  expectRefusal,
  expectRule,
  expectShape,
  expectStatus,
} from "../mismatch.ts";
import { Skipped } from "../skipped.ts";

const loginPath = "/v1/simpeg/auth/login";
const refreshPath = "/v1/simpeg/auth/refresh";

const jwt = z.string().check(z.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/));
const loginToken = {
  token: jwt,
  expires_in: z.int().check(z.positive()),
  refresh_token: z.string().check(z.minLength(20)),
  scope: z.string().check(z.regex(/^\S+( \S+)*$/)),
};
const LoginToken = z.strictObject(loginToken);
const Refreshed = z.strictObject({ ...loginToken, access_token: jwt, token_type: z.literal("Bearer") });
const wrongLogins: [string, unknown, string][] = [
  ["no username", { password: "p" }, "username"],
  ["no password", { username: "u" }, "password"],
  ["a number as username", { username: 1, password: "p" }, "username"],
  ["a blank username", { username: "", password: "p" }, "username"],
  ["spaces around the username", { username: " demo ", password: "p" }, "username"],
  ["a username of 65 characters", { username: "u".repeat(65), password: "p" }, "username"],
  ["a username with a Cyrillic letter", { username: "dеmo", password: "p" }, "username"],
  ["a blank password", { username: "u", password: "" }, "password"],
  ["null as password", { username: "u", password: null }, "password"],
  ["a password of 257 characters", { username: "u", password: "p".repeat(257) }, "password"],
  ["a password with a null character", { username: "u", password: "p\0q" }, "password"],
  ["a lone surrogate in the password", '{"username":"u","password":"\\ud800"}', "password"],
  ["a list", [], "body"],
];

const wrongRefreshes: [string, string, string][] = [
  ["no grant_type", "refresh_token=x", "invalid_request"],
  ["another grant_type", "grant_type=password&username=u", "unsupported_grant_type"],
  ["a blank grant_type", "grant_type=&refresh_token=x", "invalid_request"],
  ["no refresh token", "grant_type=refresh_token", "invalid_request"],
  ["a blank refresh token", "grant_type=refresh_token&refresh_token=", "invalid_request"],
  ["an unknown refresh token", "grant_type=refresh_token&refresh_token=mir_x", "invalid_grant"],
  ["a field twice", "grant_type=refresh_token&refresh_token=a&refresh_token=b", "invalid_request"],
  ["an access token", "grant_type=refresh_token&refresh_token=a.b.c", "invalid_grant"],
  ["bytes that are not text", "grant_type=refresh_token&refresh_token=%ff%00", "invalid_grant"],
  ["no body", "", "invalid_request"],
];

const form = (text: string) => new URLSearchParams(text);

export const employeeLogin: Section = {
  title: "Employee: login and refresh",
  cases: [
    {
      name: "login rejects anything but a username and password in JSON",
      needs: [],
      fix: "Check the login schema in lib/routes/employee.ts.",
      check: async ({ ask }) => {
        for (const [about, body, field] of wrongLogins) {
          const answer = await ask({ path: loginPath, body, about });
          expectInvalid(answer, field);
        }
        const answer = await ask({ path: loginPath, body: form("username=u&password=p"), about: "a form" });
        expectInvalid(answer);
      },
    },
    {
      name: "refresh rejects other grant types, unknown tokens and JSON, with errors that OAuth clients understand",
      needs: [],
      fix: "Check the refresh schema in lib/routes/employee.ts. A 500 usually comes from the database or its secret.",
      check: async ({ ask }) => {
        const refusals: [string, unknown, string][] = [
          ...wrongRefreshes.map(([about, text, error]): [string, unknown, string] => [
            about,
            form(text),
            error,
          ]),
          ["JSON", { grant_type: "refresh_token", refresh_token: "x" }, "invalid_request"],
        ];
        for (const [about, body, error] of refusals) {
          const answer = await ask({ path: refreshPath, body, about });
          expectRefusal(answer, 400, error);
          const { json } = answer;
          expectRule(answer, json.error === error, `error ${error}`, "another one");
          const described = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(json.error_description);
          expectRule(answer, described, "error_description in the characters of RFC 6749");
        }
      },
    },
    {
      name: "refresh rejects a form over 64 KB",
      needs: [],
      fix: "Check lib/http/body.ts.",
      check: async ({ ask }) => {
        const body = form(`refresh_token=${"x".repeat(65_536)}`);
        expectRefusal(await ask({ path: refreshPath, body, about: "66 KB" }), 413, "payload_too_large");
      },
    },
    {
      name: "login returns exactly a token, its lifetime in seconds, a refresh token and scopes",
      needs: ["account"],
      fix: "401: check the account. 502 and 504: check LEGACY_AUTH_URL and lib/employee/legacy-auth.ts. 500: check the secrets token-key and attempt-pepper, and the database.",
      check: async (system) => {
        const answer = await system.logIn();
        expectStatus(answer, 200);
        expectShape(answer, LoginToken);
        expectHeader(answer, "cache-control", /^no-store$/);
      },
    },
    {
      name: "refresh returns the next token pair under the contract's and OAuth's field names",
      needs: ["account"],
      fix: "Search the log of employee-refresh for the request id.",
      check: async (system) => {
        const { json } = await system.logIn();
        if (!json?.refresh_token) throw new Skipped("the account cannot log in");
        const fields = { grant_type: "refresh_token", client_id: "smoke" };
        const body = new URLSearchParams({ ...fields, refresh_token: json.refresh_token });
        const answer = await system.ask({ path: refreshPath, body, about: "the login's token" });
        expectStatus(answer, 200);
        const next = expectShape(answer, Refreshed);
        expectRule(answer, next.access_token === next.token, "access_token equal to token", "another value");
        expectRule(
          answer,
          next.refresh_token !== body.get("refresh_token"),
          "a new refresh token",
          "the old one",
        );
        expectHeader(answer, "cache-control", /^no-store$/);
      },
    },
  ],
};
