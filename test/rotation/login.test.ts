import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Credentials } from "#lib/db/credentials.ts";
import { logsIn, setPassword } from "#lib/db/login.ts";
import { loginRoles } from "#lib/db/roles.ts";
import type { Lambda } from "../../infra/local/lambda/lambda.ts";
import { withCityDatabase } from "../steps/city-database.ts";
import { useOwnCity } from "../steps/own-city.ts";
import { beginRotation, type Step, startRotator, steps } from "../steps/rotation.ts";
