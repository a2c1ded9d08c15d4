import { CfnOutput } from "aws-cdk-lib";
import { DomainName, EndpointType, type RestApi, SecurityPolicy } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Construct } from "constructs";
import type { Api } from "../api.ts";
import type { Config } from "../config.ts";

/** The host and path of one API on a custom domain. */
export interface Place {
  readonly host: string;
  /** Absent: the API is at the root. */
  readonly basePath?: string;
  readonly certificateArn: string;
}

/** Returns the place of an API, or undefined for a stage without custom domain. */
export const findPlace = ({ domain }: Config, { name }: Pick<Api, "name">): Place | undefined => {
  if (!domain) return undefined;
  const { certificateArn, integrationHost, messagingHost, basePath } = domain;
  return name === "integration"
    ? { host: integrationHost, basePath, certificateArn }
    : { host: messagingHost, certificateArn };
};

/** An API at a host of the city. The city's DNS must point the host at the output `DomainTarget`. */
export class CustomDomain extends Construct {
  constructor(scope: Construct, { host, basePath, certificateArn }: Place, api: RestApi) {
    super(scope, "Domain");
    const domain = new DomainName(this, "Name", {
      domainName: host,
      certificate: Certificate.fromCertificateArn(this, "Certificate", certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    domain.addBasePathMapping(api, { stage: api.deploymentStage, ...(basePath && { basePath }) });
    new CfnOutput(scope, "DomainTarget", {
      value: domain.domainNameAliasDomainName,
      description: `Target of the CNAME record of ${host}`,
    });
  }
}
