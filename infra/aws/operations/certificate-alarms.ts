import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Config } from "../config.ts";
import type { AlarmRow } from "./alarm.ts";

/** Of a stage with hosts of its own; the others have certificates that are Amazon's business. */
export const certificateAlarms = ({ domain }: Config): AlarmRow[] =>
  domain
    ? [
        {
          name: "certificate-expires",
          section: "certificate-expires",
          says: "The certificate of the public addresses expires within 30 days and has not been renewed.",
          metric: new Metric({
            namespace: "AWS/CertificateManager",
            metricName: "DaysToExpiry",
            dimensionsMap: { CertificateArn: domain.certificateArn },
            statistic: "Minimum",
            period: Duration.days(1),
          }),
          // ACM renews 60 days before, by itself, while its record in the DNS stands; it tells its figure twice a day
          rings: { below: 30 },
          silence: "good",
        },
      ]
    : [];
