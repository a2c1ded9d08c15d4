import * as ec2 from "aws-cdk-lib/aws-ec2";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { NetworkChoice } from "../config.ts";
import { keepOrDrop } from "../removal.ts";

/** The subnets and the security group of a workload. */
export interface Placement {
  readonly vpc: ec2.IVpc;
  readonly vpcSubnets: ec2.SubnetSelection;
  readonly securityGroup: ec2.ISecurityGroup;
}

export interface NetworkProps {
  readonly choice: NetworkChoice;
  /** Number of NAT gateways, if any: one per zone. */
  readonly zones: number;
  readonly logRetention: RetentionDays;
  readonly keepsData: boolean;
  /** Ports of the legacy systems. */
  readonly upstreamPorts: readonly number[];
  readonly databasePort: number;
  /** Security group of an existing database; undefined when the configuration does not name it. */
  readonly databaseGroup: { readonly existing: string | undefined } | "new";
}

/** The messenger's port. */
export const messengerPort = 8080;

const https = 443;
const http = 80;

/** The network with all security groups, so that no two stacks depend on each other. */
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
  readonly database: Pick<Placement, "vpc" | "vpcSubnets"> & {
    readonly securityGroup: ec2.ISecurityGroup | undefined;
  };

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const { choice, databaseGroup } = props;
    this.vpc = (choice.egress === "existing" ? this.#find(choice) : this.#make(props)) as ec2.IVpc;
    const isOwn = choice.egress !== "existing";
    const ofPrivate = isOwn ? { subnetGroupName: "private" } : { subnets: this.vpc.privateSubnets };
    const inPublic = choice.egress === "ipv6";

    const group = (name: string, description: string) =>
      new ec2.SecurityGroup(this, name, { vpc: this.vpc, description, allowAllOutbound: false });
    this.functions = {
      vpc: this.vpc,
      vpcSubnets: ofPrivate,
      securityGroup: group("Functions", "Functions that need the database, the messenger or an old system"),
      ipv6AllowedForDualStack: isOwn,
    };
    this.messenger = {
      vpc: this.vpc,
      vpcSubnets: inPublic ? { subnetGroupName: "public" } : ofPrivate,
      securityGroup: group("Messenger", "Messenger: only functions may call it"),
      assignPublicIp: inPublic,
    };
    this.database = {
      vpc: this.vpc,
      vpcSubnets: isOwn ? { subnetGroupName: "database" } : ofPrivate,
      securityGroup:
        databaseGroup === "new"
          ? group("Database", "Database: only functions and the messenger may call it")
          : databaseGroup.existing &&
            ec2.SecurityGroup.fromSecurityGroupId(this, "Database", databaseGroup.existing),
    } as Network["database"];
    this.#open(props);
  }

  #find({ vpcId, availabilityZones, privateSubnetIds }: Extract<NetworkChoice, { egress: "existing" }>) {
    return ec2.Vpc.fromVpcAttributes(this, "Vpc", {
      vpcId,
      availabilityZones: [...availabilityZones],
      privateSubnetIds: [...privateSubnetIds],
    });
  }

  #make({ choice, zones, logRetention, keepsData }: NetworkProps) {
    const vpc = new ec2.Vpc(this, "Vpc", {
      ipProtocol: ec2.IpProtocol.DUAL_STACK,
      ipAddresses: ec2.IpAddresses.cidr("10.40.0.0/20"),
      maxAzs: 2,
      natGateways: choice.egress === "nat" ? zones : 0,
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

  #open({ upstreamPorts, databasePort }: NetworkProps) {
    const functions = this.functions.securityGroup;
    const messenger = this.messenger.securityGroup;
    const database = this.database.securityGroup;
    const anywhere = [ec2.Peer.anyIpv4(), ec2.Peer.anyIpv6()];

    functions.addEgressRule(messenger, ec2.Port.tcp(messengerPort), "to the messenger");
    messenger.addIngressRule(functions, ec2.Port.tcp(messengerPort), "from the functions");
    for (const caller of [functions, messenger]) {
      for (const peer of database ? [database] : anywhere)
        caller.addEgressRule(peer, ec2.Port.tcp(databasePort), "to the database");
      database?.addIngressRule(caller, ec2.Port.tcp(databasePort), "from functions and the messenger");
    }
    for (const peer of anywhere) {
      for (const port of new Set([https, ...upstreamPorts]))
        functions.addEgressRule(peer, ec2.Port.tcp(port), "to Secrets Manager and the old systems");
      for (const port of [https, http])
        messenger.addEgressRule(peer, ec2.Port.tcp(port), "to WhatsApp, AWS and the hosts of files");
    }
  }
}
