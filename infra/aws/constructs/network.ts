import * as ec2 from "aws-cdk-lib/aws-ec2";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Config } from "../config.ts";
import { messengerPort, upstreamPorts } from "../stage-names.ts";
import { keepOrDrop } from "./protection.ts";

/** The subnets and the security group of a workload. */
export interface Placement {
  readonly vpc: ec2.IVpc;
  readonly vpcSubnets: ec2.SubnetSelection;
  readonly securityGroup: ec2.ISecurityGroup;
}

type OwnNetwork = Exclude<Config["network"], { egress: "existing" }>;

const https = 443;
const http = 80;

/** The network with the security groups of all callers, so that no two stacks depend on each other. */
export class Network extends Construct {
  readonly vpc: ec2.IVpc;
  readonly functions: Placement & {
    /** Functions have IPv6 addresses too, their way out of a network without NAT. */
    readonly ipv6AllowedForDualStack: boolean;
  };
  readonly messenger: Placement & {
    /** WhatsApp and file hosts need IPv4: without NAT, the task has its own public address. */
    readonly assignPublicIp: boolean;
  };
  readonly database: Pick<Placement, "vpc" | "vpcSubnets">;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    const { network: choice } = config;
    const isOwn = choice.egress !== "existing";
    this.vpc = (
      choice.egress === "existing"
        ? ec2.Vpc.fromVpcAttributes(this, "Vpc", choice)
        : this.#make(config, choice)
    ) as ec2.IVpc;
    const ofPrivate = isOwn ? { subnetGroupName: "private" } : { subnets: this.vpc.privateSubnets };
    const inPublic = choice.egress === "ipv6";

    const group = (name: string, description: string) =>
      new ec2.SecurityGroup(this, name, { vpc: this.vpc, description, allowAllOutbound: false });
    this.functions = {
      vpc: this.vpc,
      vpcSubnets: ofPrivate,
      securityGroup: group("Functions", "Functions that need the database, the messenger or a legacy system"),
      ipv6AllowedForDualStack: isOwn,
    };
    this.messenger = {
      vpc: this.vpc,
      vpcSubnets: inPublic ? { subnetGroupName: "public" } : ofPrivate,
      securityGroup: group("Messenger", "Messenger: only functions may call it"),
      assignPublicIp: inPublic,
    };
    this.database = { vpc: this.vpc, vpcSubnets: isOwn ? { subnetGroupName: "database" } : ofPrivate };
    this.#open(config);
  }

  #make({ zones, logRetention, keepsData }: Config, { egress, cidr }: OwnNetwork) {
    const vpc = new ec2.Vpc(this, "Vpc", {
      ipProtocol: ec2.IpProtocol.DUAL_STACK,
      ipAddresses: ec2.IpAddresses.cidr(cidr),
      maxAzs: 2,
      natGateways: egress === "nat" ? zones : 0,
      subnetConfiguration: [
        { name: "public", subnetType: ec2.SubnetType.PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false },
        { name: "private", subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 23 },
        { name: "database", subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 26 },
      ],
    });
    const logGroup = new LogGroup(this, "FlowLogs", {
      retention: logRetention,
      removalPolicy: keepOrDrop(keepsData),
    });
    // rejected traffic shows mistakes and scans; accepted traffic would be most of the bill
    vpc.addFlowLog("Refused", {
      destination: ec2.FlowLogDestination.toCloudWatchLogs(logGroup),
      trafficType: ec2.FlowLogTrafficType.REJECT,
    });
    return vpc;
  }

  #open(config: Config) {
    const functions = this.functions.securityGroup;
    const messenger = this.messenger.securityGroup;
    const { database } = config;
    const anywhere = [ec2.Peer.anyIpv4(), ec2.Peer.anyIpv6()];

    functions.addEgressRule(messenger, ec2.Port.tcp(messengerPort), "to the messenger");
    messenger.addIngressRule(functions, ec2.Port.tcp(messengerPort), "from the functions");
    // a database with a group opens it, and the way to it, itself
    const ports = database.kind === "existing" && !database.securityGroupId ? [database.port] : [];
    for (const peer of anywhere) {
      for (const port of ports)
        for (const caller of [functions, messenger])
          caller.addEgressRule(peer, ec2.Port.tcp(port), "to the database");
      for (const port of new Set([https, ...upstreamPorts(config)]))
        functions.addEgressRule(peer, ec2.Port.tcp(port), "to Secrets Manager and the legacy systems");
      for (const port of [https, http])
        messenger.addEgressRule(peer, ec2.Port.tcp(port), "to WhatsApp, AWS and the hosts of files");
    }
  }
}
