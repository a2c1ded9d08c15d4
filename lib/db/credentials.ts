import * as z from "zod/mini";

/**
 * A database secret, in the shape that RDS keeps.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_secret_json_structure.html
 */
export const Credentials = z.object({
  host: z.string(),
  port: z.int(),
  dbname: z.string(),
  username: z.string(),
  password: z.string(),
});
export type Credentials = z.infer<typeof Credentials>;
