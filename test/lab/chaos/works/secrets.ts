import { rotationSteps } from "#lib/secrets/table/rotation.ts";
import { mintedSecrets } from "#lib/secrets/table/table.ts";
import { canLogIn } from "../../../steps/connections.ts";
import { startBundle, startFunction } from "../../../steps/function.ts";
import type { Running, Work } from "../functions.ts";
import { loginOf, type Stage } from "./stage.ts";

export const rotation = (stage: Stage): Work => {
  const { city } = stage;
  const name = "municipal/local/database/tourism";
  let token = "";
  const step = (Step: string) => {
    const SecretId = `arn:aws:secretsmanager:local:000000000000:secret:${name}-AbCdEf`;
    const SECRETS_PREFIX = "municipal/local/";
    return startFunction(city, "rotate", { Step, SecretId, ClientRequestToken: token }, { SECRETS_PREFIX });
  };
  const all = (): Running => {
    let running: ReturnType<typeof step> | undefined;
    let isKilled = false;
    const conduct = async () => {
      for (const Step of rotationSteps) {
        if (isKilled) return;
        running = step(Step);
        const { code, lines } = await running.ended;
        if (code !== 0 && !isKilled) throw new Error(`${Step}: ${lines.join("; ")}`);
      }
    };
    const kill = () => {
      isKilled = true;
      running?.kill();
    };
    return { ended: conduct(), kill };
  };
  return {
    async prepare() {
      token = city.secrets.begin(name);
    },
    start: all,
    async again() {
      await all().ended;
      return [
        ...((await canLogIn(loginOf(stage, "tourism"))) ? [] : ["the role cannot log in"]),
        ...(city.secrets.find(name)?.id === token ? [] : ["the new password is not the current one"]),
      ];
    },
  };
};

export const filling = ({ city }: Stage): Work => {
  let made = 0;
  const prefix = () => `municipal/killed-${made}/`;
  const run = () =>
    startBundle("fill-secrets", {}, { ...city.variables({ secrets: {} }), SECRETS_PREFIX: prefix() });
  const list = () => mintedSecrets.map((name) => city.secrets.list(`${prefix()}${name}`) ?? []);
  return {
    async prepare() {
      made += 1;
      for (const name of mintedSecrets) city.secrets.create(`${prefix()}${name}`);
    },
    start: run,
    async again() {
      const before = list();
      const { code, lines } = await run().ended;
      return [
        ...(code === 0 ? [] : [lines.join("; ")]),
        ...list().flatMap((versions, index) => {
          const [version, ...others] = versions;
          const former = before[index]?.[0];
          if (!version?.value || others.length > 0)
            return [`${mintedSecrets[index]} has ${versions.length} versions`];
          return former && former.value !== version.value ? [`${mintedSecrets[index]} was replaced`] : [];
        }),
      ];
    },
  };
};
