import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Config } from "../config.ts";
import type { AlarmRow } from "./alarm.ts";

/** Only for a stage with a custom domain; Amazon renews the certificate of its own hosts. */
export const certificateAlarms = ({ domain }: Config): AlarmRow[] =>
  domain
    ? [
        {
          name: "certificate-expires",
          says: "The certificate of the public addresses expires within 30 days and has not been renewed.",
          metric: new Metric({
            namespace: "AWS/CertificateManager",
            metricName: "DaysToExpiry",
            dimensionsMap: { CertificateArn: domain.certificateArn },
            statistic: "Minimum",
            period: Duration.days(1),
          }),
          // ACM renews 60 days ahead while its DNS record exists, and publishes this metric twice a day
          rings: { below: 30 },
        },
      ]
    : [];
