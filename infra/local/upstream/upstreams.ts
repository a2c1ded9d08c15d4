import { randomBytes } from "node:crypto";
import type { LegacySystem } from "#lib/routes/route.ts";
import { startEmployeeSystem } from "./employee-system.ts";
import { inventEmployees } from "./employees.ts";
import { startLegacyAuth } from "./legacy-auth.ts";

const employeeCount = 120;
const demoUsername = "demo";

export type DemoEmployee = Awaited<ReturnType<typeof startUpstreams>>["demo"];

/** Invents the passwords of the demo account, which are stored between starts. */
export const inventPasswords = () => ({
  password: randomBytes(9).toString("base64url"),
  passphrase: `${randomBytes(6).toString("base64url")} & ${randomBytes(3).toString("hex")}`,
});

/** Starts the city's legacy systems as local HTTP servers. */
export const startUpstreams = async ({ password, passphrase }: ReturnType<typeof inventPasswords>) => {
  const employees = inventEmployees(employeeCount);
  const nip = employees[0]?.nip ?? "";
  const access = ["pegawai", "tiket"];
  const legacyAuth = await startLegacyAuth([
    { id: "1", loginBy: "username", username: demoUsername, nip, password, access },
    { id: "2", loginBy: "nip", username: "pegawai.demo", nip, password: passphrase, access },
    { id: "3", loginBy: "username", username: "reader", nip: "", password, access: ["pegawai", "laporan"] },
  ]);
  const employeeSystem = await startEmployeeSystem(employees, (of) => (of === nip ? passphrase : undefined));
  return {
    demo: {
      /** A platform user who may list employees and get tickets. */
      username: demoUsername,
      password,
      /** An employee, who logs in by NIP. */
      nip,
      /** For the employee's ticket, and the password of the employee's own account. */
      passphrase,
    },
    urls: {
      LEGACY_AUTH_URL: `${legacyAuth.url}/auth/login.php`,
      EMPLOYEE_SYSTEM_URL: employeeSystem.url,
    } satisfies Record<LegacySystem, string>,
    /** The servers' own addresses, where their failure modes are set. */
    legacyAuthUrl: legacyAuth.url,
    employeeSystemUrl: employeeSystem.url,
    stop: () => Promise.all([legacyAuth.stop(), employeeSystem.stop()]),
  };
};
