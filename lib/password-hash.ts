import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** 16 MiB and about 150 ms on one core: OWASP's parameters for little memory. */
const defaults = { N: 2 ** 14, r: 8, p: 5 };
const length = 32;

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize(), salt, length, { ...options, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );

/** Such as `scrypt:16384:8:5:SALT:KEY`, both in base64url. */
export const hashPattern = /^scrypt:\d{1,6}:\d{1,2}:\d{1,2}:[\w-]{22}:[\w-]{43}$/;

/** Hashes a password with a new salt. @param cost for tests. */
export const hashPassword = async (password: string, cost = defaults): Promise<string> => {
  const salt = randomBytes(16);
  const key = await derive(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join(":");
};

/** Whether a password is that of a hash of {@link hashPassword}. */
export const isPasswordOf = async (hash: string, password: string): Promise<boolean> => {
  const [, N, r, p, salt = "", key = ""] = hash.split(":");
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, "base64url"), options);
  return timingSafeEqual(derived, Buffer.from(key, "base64url"));
};
